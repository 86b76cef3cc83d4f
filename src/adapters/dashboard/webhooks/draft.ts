import * as v from 'valibot';
import { kinds, ownersKinds } from '../../../notifications/domain/kinds.ts';
import { longestUrl } from '../../../notifications/domain/destination.ts';
import type { WebhookDraft } from '../../../notifications/domain/webhook.ts';
import { checkboxes } from '../frame/checkboxes.ts';
import { filled } from '../frame/form-body.ts';
import { html, type Html } from '../frame/html.ts';
import { field, formError, onceInput } from '../frame/form-parts.ts';
import type { Refusal } from '../frame/screen.ts';

/** The fields of a webhook; the domain checks the address. */
export const webhookDraft = v.object({
  address: filled('Enter the address of your receiver.'),
  kinds: v.pipe(
    v.string(),
    v.transform((text) => text.split(',')),
    v.transform((words) => ownersKinds.filter((kind) => words.includes(kind))),
    v.minLength(1, 'Choose at least one kind.'),
  ),
});

interface DraftForm {
  readonly action: string;
  readonly button: string;
  /** As it is now; undefined for a new one. */
  readonly current?: WebhookDraft;
  /** For `onceInput`. */
  readonly once?: string;
  readonly refusal: Refusal | undefined;
}

export const draftForm = ({ action, button, current, once, refusal }: DraftForm): Html =>
  html`<form method="post" action="${action}">
    ${formError(refusal)}
    ${once !== undefined && onceInput(once)}
    ${field(
      {
        label: 'Address',
        name: 'address',
        value: current?.address ?? '',
        maxlength: longestUrl,
        placeholder: 'https://example.com/hooks',
        inputmode: 'url',
        autocomplete: 'off',
        hint: 'It begins with https://, and is on the public internet.',
      },
      refusal,
    )}
    ${kindChoice(current?.kinds ?? ownersKinds, refusal)}
    <div><button class="main">${button}</button></div>
  </form>`;

const kindChoice = (chosen: readonly string[], refusal: Refusal | undefined): Html =>
  checkboxes(
    {
      ...{ legend: 'Kinds: what we call it for', name: 'kinds', look: 'columns kinds' },
      ...{ values: ownersKinds, chosen },
      labelOf: (kind) =>
        html`<span><code>${kind}</code> <span class="hint">${kinds[kind].when}</span></span>`,
    },
    refusal,
  );
