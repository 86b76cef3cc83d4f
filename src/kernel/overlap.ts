/** How long the old secret keeps working after a rotation, in milliseconds. */
export const overlaps = {
  '0': 0,
  '15m': 15 * 60_000,
  '1h': 60 * 60_000,
  '24h': 24 * 60 * 60_000,
  '7d': 7 * 24 * 60 * 60_000,
} as const;
export type Overlap = keyof typeof overlaps;
