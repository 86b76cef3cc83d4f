import type { UsageOutcome } from '../../../access/ports.ts';
import { count, counted } from '../frame/parts.ts';
import { stacking, totalOf, type Column } from './chart.ts';
import { ranges, type RangeName } from './columns.ts';

/** How requests end. */
export const outcomeWords: Readonly<Record<UsageOutcome, string>> = {
  '2xx': 'successful (2xx)',
  '3xx': 'redirected (3xx)',
  '4xx': 'client errors (4xx)',
  '5xx': 'server errors (5xx)',
  refused: 'refused (429)',
};

/** Made when it is first used, because that takes milliseconds. */
const inUtc = (options: Intl.DateTimeFormatOptions) => {
  let made: Intl.DateTimeFormat | undefined;
  const format = () => (made ??= new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options }));
  return { format: (at: Date): string => format().format(at) };
};
const dayFormat = inUtc({ day: 'numeric', month: 'short' });
const weekdayFormat = inUtc({ weekday: 'short', day: 'numeric', month: 'short' });
const hourFormat = inUtc({ hour: '2-digit', minute: '2-digit' });

/** `14:00` or `21 Nov`: the label below a bar. */
export const shortName = ({ begin }: Column, range: RangeName): string =>
  (ranges[range].unit === 'hour' ? hourFormat : dayFormat).format(begin);

/** `Fri 21 Nov, 14:00–15:00` or `Fri 21 Nov` */
export const longName = ({ begin }: Column, range: RangeName): string => {
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

/** Enough names below the bars to read off all of them; `minor` ones only where there is room. */
export const namedBars = (
  columns: readonly Column[],
  range: RangeName,
): readonly { readonly index: number; readonly isMinor: boolean }[] =>
  columns.flatMap(({ begin }, index) => {
    const step = ranges[range].unit === 'hour' ? begin.getUTCHours() : columns.length - 1 - index;
    const [all, major] = ranges[range].unit === 'hour' ? [3, 6] : [5, 10];
    return step % all === 0 ? [{ index, isMinor: step % major !== 0 }] : [];
  });
