/** When the DNS of a domain is checked automatically. */
type NextCheck = { readonly kind: 'check'; readonly at: Date } | { readonly kind: 'expired' };

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long a domain that is never verified is kept. */
export const longestWaitForDnsMs = 30 * day;

const steps = (from: number, to: number, step: number): readonly number[] =>
  Array.from({ length: Math.round((to - from) / step) }, (_, n) => from + (n + 1) * step);

/** Times of the checks after Add or the last Verify: frequent at first, while the owner waits, then rarer. */
const offsets: readonly number[] = [
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * minute),
  ...steps(0, 48 * hour, hour),
  ...steps(48 * hour, longestWaitForDnsMs, day),
];

const largestJitter = 0.1;

/** The time, and a jitter from -1 to 1 that moves this domain's next check earlier or later. */
export interface Moment {
  readonly now: Date;
  readonly jitter: number;
}

/**
 * @param since Add or the last Verify
 * @param jitter -1 to 1: how much of the ten percent to be earlier or later, so that domains spread
 */
export const nextCheck = (since: Date, now: Date, jitter: number): NextCheck => {
  // If the clock was set back, the schedule starts over instead of waiting until the old time comes again.
  const elapsed = Math.max(0, now.getTime() - since.getTime()) || 0;
  if (elapsed >= longestWaitForDnsMs) return { kind: 'expired' };
  // Skips a check that is nearly due: it just ran a moment early, or the next one comes soon anyway.
  const offset = offsets.find((at, n) => at - elapsed > (at - (offsets[n - 1] ?? 0)) / 2);
  const wait =
    offset === undefined ? longestWaitForDnsMs - elapsed : spread(offset - elapsed, jitter);
  return { kind: 'check', at: new Date(now.getTime() + wait) };
};

/** For domains that never expire: daily in the end. */
export const nextLookAt = (since: Date, now: Date, jitter: number): Date => {
  const next = nextCheck(since, now, jitter);
  return next.kind === 'check' ? next.at : new Date(now.getTime() + day);
};

/** For live domains: hourly in the end, so that their owners soon learn that visitors do not come. */
export const nextLookAtLive = (since: Date, { now, jitter }: Moment): Date => {
  const hourly = new Date(now.getTime() + spread(hour, jitter));
  const next = nextLookAt(since, now, jitter);
  return next < hourly ? next : hourly;
};

/** The first wait after a check that shows that a live domain leads elsewhere. */
const firstWaitMs = 4 * minute;

/**
 * For a live domain that leads elsewhere: 4, 12, 28 and 60 minutes after the first check that shows it, then hourly.
 * @param lastCheckedAt when the check before this one showed the same; undefined if it did not
 */
export const nextLookAtAstray = (lastCheckedAt: Date | undefined, now: Date): Date => {
  const waited = lastCheckedAt ? now.getTime() - lastCheckedAt.getTime() : 0;
  return new Date(now.getTime() + Math.min(hour, Math.max(firstWaitMs, 2 * waited)));
};

const spread = (wait: number, jitter: number): number =>
  wait * (1 + largestJitter * (Math.min(1, Math.max(-1, jitter)) || 0));
