import type { ValidationMethod } from '../dns/validation.ts';
import type { AuthorityFailure } from './order.ts';

/** What one authority said to attempts at a certificate, since the last one that was issued. */
export interface AuthorityTurn {
  /** Since when it has not answered, or has told us to wait. */
  readonly awaySince: Date | undefined;
  /** It asked us not to retry before then. */
  readonly retryAt: Date | undefined;
}

/** The attempts at one certificate: since the domain was verified, the owner asked again, or the last one was issued. */
export interface Attempts {
  readonly failed: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** The owner requested the current or next one. */
  readonly isManual: boolean;
  /** An authority asked us not to retry before then. */
  readonly retryAt: Date | undefined;
  /** By the names of the authorities that failed. */
  readonly turns: Readonly<Record<string, AuthorityTurn>>;
  /** The authority that failed last. */
  readonly lastBy: string | undefined;
  /** How the name was proven when the last one failed because the authority did not find the proof. */
  readonly unproven: ValidationMethod | undefined;
}

export const freshAttempts = (now: Date): Attempts => ({
  ...{ failed: 0, firstAt: now, lastAt: now },
  ...{ isManual: false, retryAt: undefined, turns: {}, lastBy: undefined, unproven: undefined },
});

export type NextAttempt =
  | { readonly kind: 'at'; readonly at: Date }
  /** Only a change of the DNS can help. */
  | { readonly kind: 'waits_for_dns' }
  /** Only the owner can help. */
  | { readonly kind: 'waits_for_owner' };

const minute = 60_000;
const day = 24 * 60 * minute;

/** Waits after the first failures (the integration guide of Let's Encrypt); afterwards it is a day. */
const waits = [minute, 10 * minute, 100 * minute];

/** After that, only the owner can retry. */
export const longestTryingMs = 30 * day;

export const waitAfter = (failed: number): number =>
  failed === 0 ? 0 : (waits[failed - 1] ?? day);

/** An expired order is retried immediately; an authority that loses several in a row gets a pause. */
const waitForAnother = (failed: number): number => (failed <= 1 ? 0 : minute);

/** @param attempts with the failed one */
export const nextAttempt = (
  { failed, firstAt }: Pick<Attempts, 'failed' | 'firstAt'>,
  { reason, retryAt }: Pick<AuthorityFailure, 'reason' | 'retryAt'>,
  now: Date,
): NextAttempt => {
  const wait = reason === 'order_gone' ? waitForAnother(failed) : waitAfter(failed);
  const isOver = now.getTime() - firstAt.getTime() + wait > longestTryingMs;
  if (isOver || reason === 'rejected_name') return { kind: 'waits_for_owner' };
  if (reason === 'caa') return { kind: 'waits_for_dns' };
  return { kind: 'at', at: new Date(Math.max(now.getTime() + wait, retryAt?.getTime() ?? 0)) };
};
