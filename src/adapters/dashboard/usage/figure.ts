import { html, nothing, type Html } from '../frame/html.ts';
import { count } from '../frame/parts.ts';
import { chartOf, totalOf, type Bar, type Chart, type Column } from './chart.ts';
import { added, ranges, type RangeName } from './columns.ts';
import { legend, look, patterns } from './legend.ts';
import { usageTable } from './table.ts';
import { namedBars, sentence, shortName } from './words.ts';

export interface Figure {
  readonly columns: readonly Column[];
  readonly range: RangeName;
  /** How many requests can pass in one day. No plan limits an hour, so the chart by the hour draws none. */
  readonly perDay: number;
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/**
 * The chart. Places are percents and letters keep their size, so that it reads on any width; colours come from the
 * style sheet.
 */
export const usageFigure = (figure: Figure): Html => {
  const { columns, range } = figure;
  const chart = chartOf(columns, ranges[range].unit === 'day' ? figure.perDay : undefined);
  return html`<figure class="stack">
    ${legend(columns, chart.limit && `quota: ${count(chart.limit.value)} a day`)}
    <svg class="plot" role="img" aria-label="${summary(figure)}">
      ${patterns}
      ${chart.ticks.map(({ value, y }) => html`${across('tick', y)}<text class="tick" x="-8" y="${percent(y)}" dy="0.32em">${compact.format(value)}</text>`)}
      ${chart.bars.map((bar) => drawn(bar, range))}
      ${names(chart, figure)}
      ${chart.limit ? across('limit', chart.limit.y) : nothing}
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
  const totals = columns.map(totalOf);
  const { unit, words } = ranges[range];
  const all = totals.reduce((sum, one) => sum + one, 0);
  const { refused } = added(columns.map(({ requests }) => requests));
  return (
    `Requests per ${unit} in ${words}: ${count(all)} in all, ${count(refused)} of them refused, ` +
    `at most ${count(Math.max(0, ...totals))} in one ${unit}` +
    `${unit === 'day' ? `, with a quota of ${count(perDay)} a day` : ''}. The table below has the numbers.`
  );
};
