import crc32 from 'crc-32';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits after each failure (Standard Webhooks recommends such a schedule); after the last one, we give up. */
export const waits: readonly number[] = [
  ...[5 * second, 5 * minute, 30 * minute],
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
];

/** Attempts before we give up. Sent again, a delivery keeps as many of those before. */
export const attemptsOfOnce = waits.length + 1;

/** A wait is longer by up to this share, so that what failed together is not repeated together. */
const jitter = 0.1;

export const longestWait = Math.max(...waits) * (1 + jitter);

/** @returns undefined once all attempts failed @param failures with the last one */
export const waitAfter = (failures: number, deliveryId: string): number | undefined => {
  const wait = waits[failures - 1];
  if (wait === undefined) return undefined;
  const chance = (crc32.str(`${deliveryId} ${String(failures)}`) >>> 0) / 2 ** 32;
  return Math.round(wait * (1 + jitter * chance));
};
