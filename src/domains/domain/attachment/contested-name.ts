import { checkedHourly } from './checks.ts';
import type { Moment } from './check-schedule.ts';
import { isCertified, type Certified } from './certificate.ts';
import {
  removeDomain,
  unchanged,
  type CustomDomain,
  type DomainDecision,
} from './custom-domain.ts';
import { shownHost } from '../names/hostname.ts';
import { proofOf } from '../dns/records.ts';
import { refusal } from '../domains-error.ts';
import type { DomainChange } from './change.ts';
import { isDelegated, prepared, unprepared } from './readiness.ts';
import { takenOver } from './taken-over.ts';

/** One that is only `added` has proven its name while the delegation is there. */
const hasProven = (domain: CustomDomain): boolean =>
  isCertified(domain) && (domain.state !== 'added' || isDelegated(domain));

type Claimant = Pick<CustomDomain, 'id' | 'accountId' | 'host'>;

/**
 * The name that another attachment has proven: this one, or for another account the wildcard that covers it. Then this
 * one needs the TXT record or the delegation. A name that was proven is not contested by a wildcard.
 * @param holders as `CustomDomains.holdersOf` returns them
 */
export const provenElsewhere = (
  { id, accountId, host }: Claimant,
  holders: readonly CustomDomain[],
): string | undefined => {
  const proven = holders.filter(hasProven);
  const exact = proven.find((one) => one.host === host);
  const rival = exact ?? proven.find((one) => one.accountId !== accountId);
  return rival?.id === id ? undefined : rival?.host;
};

/** See `provenElsewhere`. */
export const isContested = (claimant: Claimant, holders: readonly CustomDomain[]): boolean =>
  provenElsewhere(claimant, holders) !== undefined;

/** What a name that waits needs. @param proven see `provenElsewhere` */
export const contestInWords = (
  { host, unicodeHost: unicode }: Pick<CustomDomain, 'host' | 'unicodeHost'>,
  proven: string,
): string => {
  const name = proven === host ? shownHost({ host, unicode }) : proven;
  return `Another account has proven that it owns ${name}. If this name is yours, create ${proofOf(host)} too: then it moves here.`;
};

/**
 * A name that is proven from now on is taken from its holder, with its certificate.
 * @throws DomainError as `contestedBy` does
 */
export const claimName = (
  { state, events }: DomainDecision,
  holder: CustomDomain | undefined,
  moment: Moment,
): DomainChange => {
  const { now } = moment;
  const claimant = prepared(state, holder, now);
  if (!isCertified(claimant)) return { state: claimant, events };
  const displaced = holder && contestedBy(holder, claimant, now);
  const taken = holder ? takenOver(claimant, holder, now) : unchanged(claimant);
  return {
    state: watched(taken.state, moment),
    events: [...events, ...taken.events],
    ...(displaced && { displaced }),
  };
};

const watched = (domain: CustomDomain, moment: Moment): CustomDomain =>
  domain.state === 'added' && isCertified(domain) ? checkedHourly(domain, moment) : domain;

/**
 * Another account proved the name, so its holder loses it. One that is only `added` waits for its DNS again.
 * @throws DomainError `domain_taken` when the claimant did not prove it by the TXT record or the delegation
 */
export const contestedBy = (
  holder: CustomDomain,
  claimant: CustomDomain,
  now: Date,
): DomainDecision => {
  if (holder.id === claimant.id || holder.host !== claimant.host) return unchanged(holder);
  if (!isCertified(holder)) return unchanged(holder);
  if (!mayTake(claimant, holder)) throw domainTaken(holder);
  return holder.state === 'added'
    ? unprepared(holder, now)
    : removeDomain(holder, 'contested', now);
};

export const domainTaken = ({
  host,
  unicodeHost: unicode,
}: Pick<CustomDomain, 'host' | 'unicodeHost'>) => {
  const message = `${shownHost({ host, unicode })} is in use. Create ${proofOf(host)} to prove that it is yours.`;
  return refusal('domain_taken', message);
};

const mayTake = (claimant: CustomDomain, holder: Certified): boolean => {
  if (!isCertified(claimant)) return false;
  if (claimant.state === 'added' && holder.state !== 'added') return false;
  return !hasProven(holder) || (claimant.dns.report?.ownershipProven ?? false);
};
