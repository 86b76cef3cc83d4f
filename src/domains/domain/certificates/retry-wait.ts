import type { Validity } from './certificate.ts';

const minute = 60_000;

/**
 * Longest wait before the next attempt at a renewal: at least ten fit before the end, and after it they become rarer
 * again.
 */
export const longestRetryWait = ({ notAfter }: Validity, now: Date): number =>
  Math.max(minute, Math.abs(notAfter.getTime() - now.getTime()) / 20);
