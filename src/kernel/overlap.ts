import { minuteMs, hourMs, dayMs, weekMs } from './durations.ts';

/** How long the old secret keeps working after a rotation, in milliseconds. */
export const overlaps = {
  '0': 0,
  '15m': 15 * minuteMs,
  '1h': hourMs,
  '24h': dayMs,
  '7d': weekMs,
} as const;
export type Overlap = keyof typeof overlaps;
