import { html, type Child, type Html } from './html.ts';
import type { Refusal } from './screen.ts';

interface Checkboxes<Value extends string> {
  readonly legend: string;
  readonly name: string;
  /** Classes of the stylesheet. */
  readonly look: string;
  readonly values: readonly Value[];
  readonly chosen: readonly string[];
  readonly labelOf: (value: Value) => Child;
}

/** A choice of several. The empty field shows that no box is ticked; browsers would send nothing. */
export const checkboxes = <Value extends string>(
  { legend, name, look, values, chosen: before, labelOf }: Checkboxes<Value>,
  refusal: Refusal | undefined,
): Html => {
  const chosen = refusal ? (refusal.values[name] ?? '').split(',') : before;
  const wrong = refusal?.field === name ? refusal.message : undefined;
  return html`<fieldset ${wrong !== undefined && html`aria-describedby="${name}-error"`}>
    <legend>${legend}</legend>
    <input type="hidden" name="${name}" value="">
    <div class="${look}">
      ${values.map(
        (value, at) => html`<label>
          <input type="checkbox" name="${name}" value="${value}" ${chosen.includes(value) && html`checked`}
            ${wrong !== undefined && html`aria-invalid="true" ${at === 0 && html`autofocus`}`}>
          ${labelOf(value)}
        </label>`,
      )}
    </div>
    ${wrong !== undefined && html`<p class="error" id="${name}-error" data-refusal>${wrong}</p>`}
  </fieldset>`;
};
