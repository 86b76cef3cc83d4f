import type { UsageOutcome } from '../../../access/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { count, counted } from '../frame/parts.ts';
import {
  added,
  type Bar,
  type Chart,
  chartOf,
  type Column,
  type RangeName,
  ranges,
  stacking,
  totalOf,
} from './chart.ts';

export interface Figure {
  readonly columns: readonly Column[];
  readonly range: RangeName;
  /** The daily quota of requests. No plan limits an hour, so the hourly chart shows no limit. */
  readonly perDay: number;
}

const patterns = html`<defs>
  <pattern id="pattern-3xx" class="outcome-3xx" width="4" height="4" patternUnits="userSpaceOnUse"><rect class="ground" width="4" height="4"/><rect class="ink" width="4" height="1.5"/></pattern>
  <pattern id="pattern-4xx" class="outcome-4xx" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="ground" width="5" height="5"/><circle class="ink" cx="2.5" cy="2.5" r="1.3"/></pattern>
  <pattern id="pattern-refused" class="outcome-refused" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="6" height="6"/><rect class="ink" width="3" height="6"/></pattern>
</defs>`;

let compact: Intl.NumberFormat | undefined;
const inShort = (value: number): string =>
  (compact ??= new Intl.NumberFormat('en', { notation: 'compact' })).format(value);

/**
 * Draws the chart. Positions are percentages and text keeps its size, so it is readable at any width. The stylesheet
 * sets the colours.
 */
export const usageFigure = (figure: Figure): Html => {
  const { columns, range } = figure;
  const chart = chartOf(columns, ranges[range].unit === 'day' ? figure.perDay : undefined);
  return html`<figure class="stack">
    ${legend(columns, chart.limit && `quota: ${count(chart.limit.value)} a day`)}
    <svg class="plot" role="img" aria-label="${summary(figure)}">
      ${patterns}
      ${chart.ticks.map(({ value, y }) => html`${across('tick', y)}<text class="tick" x="-8" y="${percent(y)}" dy="0.32em">${inShort(value)}</text>`)}
      ${chart.bars.map((bar) => drawn(bar, range))}
      ${names(chart, figure)}
      ${chart.limit && across('limit', chart.limit.y)}
    </svg>
    ${usageTable(columns, range)}
  </figure>`;
};

const percent = (number: number): string => `${Number(number.toFixed(2))}%`;

const across = (what: 'tick' | 'limit', y: number): Html =>
  html`<line class="${what}" x1="0" x2="100%" y1="${percent(y)}" y2="${percent(y)}"/>`;

const drawn = ({ column, x, width, parts }: Bar, range: RangeName): Html => html`<g>
    <title>${sentence(column, range)}</title>
    <rect class="hit" fill="transparent" x="${percent(x)}" y="0" width="${percent(width)}" height="100%"/>
    ${parts.map(({ outcome, y, height }) => html`<rect ${look(outcome)} x="${percent(x)}" y="${percent(y)}" width="${percent(width)}" height="${percent(height)}"/>`)}
  </g>`;

const names = ({ bars }: Chart, { columns, range }: Figure): readonly Html[] =>
  namedBars(columns, range).flatMap(({ index, isMinor }) => {
    const bar = bars[index];
    if (!bar) return [];
    const middle = percent(bar.x + bar.width / 2);
    return [
      html`<text ${isMinor && html`class="minor"`} x="${middle}" y="100%" dy="1.6em">${shortName(bar.column, range)}</text>`,
    ];
  });

const summary = ({ columns, range, perDay }: Figure): string => {
  const { unit, words } = ranges[range];
  const requests = added(columns);
  return (
    `Requests per ${unit} in ${words}: ${count(totalOf({ requests }))} in all, ${count(requests.refused)} of them refused, ` +
    `at most ${count(Math.max(0, ...columns.map(totalOf)))} in one ${unit}` +
    `${unit === 'day' ? `, with a quota of ${count(perDay)} a day` : ''}. The table below has the numbers.`
  );
};

const look = (outcome: UsageOutcome): Html =>
  html`class="outcome-${outcome}" ${patterned.includes(outcome) && html`fill="url(#pattern-${outcome})"`}`;

const patterned: readonly UsageOutcome[] = ['3xx', '4xx', 'refused'];

const legend = (columns: readonly Column[], limit: string | undefined): Html => {
  const totals = added(columns);
  return html`<ul class="row">
    ${stacking.map((outcome) => html`<li ${totals[outcome] === 0 && html`class="quiet"`}><svg width="14" height="14" aria-hidden="true"><rect ${look(outcome)} x="1" y="1" width="12" height="12" rx="2"/></svg> ${outcomeWords[outcome]} <b>${count(totals[outcome])}</b></li>`)}
    ${limit !== undefined && html`<li><svg width="24" height="14" aria-hidden="true"><line class="limit" x1="0" x2="24" y1="7" y2="7"/></svg> ${limit}</li>`}
  </ul>`;
};

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

const outcomeWords: Readonly<Record<UsageOutcome, string>> = {
  '2xx': 'successful (2xx)',
  '3xx': 'redirected (3xx)',
  '4xx': 'client errors (4xx)',
  '5xx': 'server errors (5xx)',
  refused: 'refused (429)',
};

/** Creates the format on first use, because that takes milliseconds. */
const inUtc = (options: Intl.DateTimeFormatOptions) => {
  let made: Intl.DateTimeFormat | undefined;
  const format = () => (made ??= new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }));
  return { format: (at: Date): string => format().format(at) };
};
const dayFormat = inUtc({ day: 'numeric', month: 'short' });
const weekdayFormat = inUtc({ weekday: 'short', day: 'numeric', month: 'short' });
const hourFormat = inUtc({ hour: '2-digit', minute: '2-digit' });

const shortName = ({ begin }: Column, range: RangeName): string =>
  (ranges[range].unit === 'hour' ? hourFormat : dayFormat).format(begin);

const longName = ({ begin }: Column, range: RangeName): string => {
  const { unit, unitMs } = ranges[range];
  const day = weekdayFormat.format(begin).replace(',', '');
  if (unit === 'day') return day;
  const end = new Date(begin.getTime() + unitMs);
  return `${day}, ${hourFormat.format(begin)}–${hourFormat.format(end)}`;
};

/** `Fri 21 Nov: 130 requests; successful (2xx): 120, refused (429): 10` */
export const sentence = (column: Column, range: RangeName): string => {
  const total = totalOf(column);
  const parts = stacking
    .filter((outcome) => column.requests[outcome] > 0)
    .map((outcome) => `${outcomeWords[outcome]}: ${count(column.requests[outcome])}`);
  const requests = `${longName(column, range)}: ${counted(total, 'request')}`;
  return parts.length === 0 ? requests : `${requests}; ${parts.join(', ')}`;
};

/** Picks enough names below the bars to identify all of them. `minor` ones appear only if there is room. */
export const namedBars = (
  columns: readonly Column[],
  range: RangeName,
): readonly { readonly index: number; readonly isMinor: boolean }[] =>
  columns.flatMap(({ begin }, index) => {
    const step = ranges[range].unit === 'hour' ? begin.getUTCHours() : columns.length - 1 - index;
    const [all, major] = ranges[range].unit === 'hour' ? [3, 6] : [5, 10];
    return step % all === 0 ? [{ index, isMinor: step % major !== 0 }] : [];
  });
