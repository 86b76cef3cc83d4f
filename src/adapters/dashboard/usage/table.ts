import { html, type Html } from '../frame/html.ts';
import { count } from '../frame/parts.ts';
import { stacking, totalOf, type Column } from './chart.ts';
import { ranges, type RangeName } from './columns.ts';
import { longName, outcomeWords } from './words.ts';

/** The numbers of the chart, newest first. */
export const usageTable = (columns: readonly Column[], range: RangeName): Html => {
  const { unit } = ranges[range];
  return html`<details>
    <summary>Show as a table</summary>
    <div class="table" tabindex="0" role="region" aria-label="Requests per ${unit}">
      <table class="numbers">
        <thead><tr><th scope="col">${unit === 'hour' ? 'Hour' : 'Day'} (UTC)</th><th scope="col" class="number">Total</th>${stacking.map((outcome) => html`<th scope="col" class="number">${outcomeWords[outcome]}</th>`)}</tr></thead>
        <tbody>${columns.toReversed().map((column) => row(column, range))}</tbody>
      </table>
    </div>
  </details>`;
};

const row = (column: Column, range: RangeName): Html => html`<tr>
  <th scope="row">${longName(column, range)}</th>
  <td class="number"><b>${count(totalOf(column))}</b></td>
  ${stacking.map((outcome) => html`<td class="number">${count(column.requests[outcome])}</td>`)}
</tr>`;
