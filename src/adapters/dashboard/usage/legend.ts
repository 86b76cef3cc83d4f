import type { UsageOutcome } from '../../../access/usage-ports.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { count } from '../frame/parts.ts';
import { stacking, type Column } from './chart.ts';
import { added } from './columns.ts';
import { outcomeWords } from './words.ts';

/** How a rectangle of an outcome looks: its colour by the class, and a pattern, so that it is known without colours. */
export const look = (outcome: UsageOutcome): Html =>
  html`class="outcome-${outcome}" ${patterned.includes(outcome) ? html`fill="url(#pattern-${outcome})"` : nothing}`;

const patterned: readonly UsageOutcome[] = ['3xx', '4xx', 'refused'];

/** Has to stand once on the page. */
export const patterns = html`<defs>
  <pattern id="pattern-3xx" class="outcome-3xx" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="ground" width="4" height="4"/><rect class="ink" width="4" height="1.5"/></pattern>
  <pattern id="pattern-4xx" class="outcome-4xx" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="ground" width="5" height="5"/><circle class="ink" cx="2.5" cy="2.5" r="1.3"/></pattern>
  <pattern id="pattern-refused" class="outcome-refused" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="6" height="6"/><rect class="ink" width="3" height="6"/></pattern>
</defs>`;

/** In the order of the stack, with how many there were. @param limit what the line across the chart says, if it is there */
export const legend = (columns: readonly Column[], limit: string | undefined): Html => {
  const totals = added(columns.map(({ requests }) => requests));
  return html`<ul class="row">
    ${stacking.map((outcome) => html`<li ${totals[outcome] === 0 && html`class="quiet"`}><svg width="14" height="14" aria-hidden="true"><rect ${look(outcome)} x="1" y="1" width="12" height="12" rx="2"/></svg> ${outcomeWords[outcome]} <b>${count(totals[outcome])}</b></li>`)}
    ${limit !== undefined && html`<li><svg width="24" height="14" aria-hidden="true"><line class="limit" x1="0" x2="24" y1="7" y2="7"/></svg> ${limit}</li>`}
  </ul>`;
};
