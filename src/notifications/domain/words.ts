import type { Responsible } from './notification.ts';

/** Words, not numbers with hyphens: lines break after those. */
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** `1 March 2026, 10:00 UTC` @param iso ISO 8601, in UTC */
export const minute = (iso: string): string => `${day(iso)}, ${iso.slice(11, 16)} UTC`;

/** `1 March 2026` @param iso ISO 8601, in UTC */
export const day = (iso: string): string =>
  `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1] ?? ''} ${iso.slice(0, 4)}`;

/** The UTC day that ends then. @param iso ISO 8601 */
export const dayBefore = (iso: string): string => day(new Date(Date.parse(iso) - 1).toISOString());

/** `10,000` */
export const amount = (number: number): string => number.toLocaleString('en');

export const whoActs: Readonly<Record<Responsible, string>> = {
  customer: 'You need to act.',
  us: 'We act; you need to do nothing.',
  nobody: '',
};
