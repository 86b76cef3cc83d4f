import { turnAfter } from '../certificates/authorities.ts';
import { freshAttempts, type Attempts } from '../certificates/attempts.ts';
import type { AuthorityFailure } from '../certificates/order.ts';
import { isOrdered, keepsOrder, latest, type CertificateWork } from '../certificates/standing.ts';
import { chooseMethod } from '../dns/validation.ts';
import { orderedAt, type Certified } from './plan.ts';

// What the attempts at one certificate leave behind for the next one.

/** Chosen once for each order. Traffic that may lead elsewhere can only be proven by DNS. */
export const methodOf = ({ state, host, dns, certificate }: Certified, authority: string) =>
  state === 'added'
    ? 'dns-01'
    : chooseMethod({
        ...{ host, authority, validation: dns.report?.validation },
        leadsHere: dns.report?.verifiable ?? false,
        unproven: certificate.work.attempts?.unproven,
      });

/** A new attempt begins. */
export const triedAgain = ({ attempts }: CertificateWork, now: Date): Attempts => ({
  ...(attempts ?? freshAttempts(now)),
  lastAt: now,
});

/** The attempt under way failed. */
export const failedAgain = (
  domain: Certified,
  { reason, retryAt, isPlaced }: AuthorityFailure & { readonly isPlaced: boolean },
  now: Date,
): Attempts => {
  const { work } = domain.certificate;
  const tried = triedAgain(work, now);
  const order = work.step === 'ordered' ? work : undefined;
  // A retry that the owner did not request counts as automatic.
  const isManual = tried.isManual && isOrdered(domain) && keepsOrder(reason);
  const by = orderedAt(domain);
  const placed = isPlaced ? order?.since : undefined;
  const turn = turnAfter(tried.turns[by], { isAway: keepsOrder(reason), retryAt, placed }, now);
  return {
    ...tried,
    ...{ failed: tried.failed + 1, isManual },
    retryAt: retryAt ? latest(retryAt, tried.retryAt) : tried.retryAt,
    ...{ turns: { ...tried.turns, [by]: turn }, lastBy: by },
    unproven: unprovenAfter(tried.unproven, reason, order?.method),
  };
};

/** An authority that is away, or limits us, says nothing of the proof. */
const unprovenAfter = (
  before: Attempts['unproven'],
  reason: AuthorityFailure['reason'],
  method: Attempts['unproven'],
): Attempts['unproven'] => {
  if (keepsOrder(reason)) return before;
  return reason === 'challenge' || reason === 'dns' ? method : undefined;
};
