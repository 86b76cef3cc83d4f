import type { DomainChange, TimelineEntry } from './timeline-entries.ts';
import {
  type Moment,
  contested,
  type CustomDomain,
  type DomainDecision,
  removeDomain,
  type Rival,
  unchanged,
} from './custom-domain.ts';
import { checkedHourly } from './checks.ts';
import { type Certified, isCertified, provenAt, takenOver } from './domain-certificate.ts';
import { isDelegated, prepared, unprepared, changesRoutes, isAttached } from './serving.ts';
import { proofOf } from '../dns/records.ts';
import { refusal } from '../domains-error.ts';
import type { DomainsEvent } from '../domains-event.ts';
import { nameInText } from '../names/hostname.ts';

const hasProven = (domain: CustomDomain): boolean =>
  isCertified(domain) && (domain.state !== 'added' || isDelegated(domain));

type Claimant = Pick<CustomDomain, 'id' | 'accountId' | 'host'>;

/**
 * Finds the name that another attachment has proven: this one, or for another account a wildcard that covers it.
 * The claimant then needs the TXT record or the delegation. A wildcard does not contest a proven name.
 * @param holders from `CustomDomains.holdersOf`
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

export const isContested = (claimant: Claimant, holders: readonly CustomDomain[]): boolean =>
  provenElsewhere(claimant, holders) !== undefined;

export const contestInWords = (
  domain: Pick<CustomDomain, 'host' | 'unicodeHost'>,
  proven: string,
): string => {
  const { host } = domain;
  const name = proven === host ? nameInText(domain) : proven;
  return `Another account has proven that it owns ${name}. If this name is yours, create ${proofOf(host)} too: then it moves here.`;
};

/** Moves a newly proven name and its certificate to the claimant. @throws DomainError like `contestedBy` */
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

/** @throws DomainError `domain_taken` if the claimant did not prove the name by the TXT record or the delegation */
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

export const domainTaken = (domain: Pick<CustomDomain, 'host' | 'unicodeHost'>) => {
  const message = `${nameInText(domain)} is in use. Create ${proofOf(domain.host)} to prove that it is yours.`;
  return refusal('domain_taken', message);
};

const mayTake = (claimant: CustomDomain, holder: Certified): boolean => {
  if (!isCertified(claimant)) return false;
  if (claimant.state === 'added' && holder.state !== 'added') return false;
  return !hasProven(holder) || (claimant.dns.report?.ownershipProven ?? false);
};

export interface DomainMove {
  readonly from: CustomDomain;
  readonly to: CustomDomain;
  readonly events: readonly DomainsEvent[];
  readonly cause?: TimelineEntry | undefined;
}

export interface Consequences {
  /** The former holder comes first, because only one domain at a time may hold the name. */
  readonly moves: readonly DomainMove[];
  readonly proven: Certified | undefined;
  readonly projects: readonly string[];
  readonly withoutOrders: readonly string[];
  readonly withoutShares: readonly string[];
  readonly uncertified: string | undefined;
}

export const consequencesOf = (
  domain: CustomDomain,
  holder: CustomDomain | undefined,
  change: DomainChange,
): Consequences => {
  const { state, events, cause, displaced } = change;
  const own = { from: domain, to: state, events, cause };
  const moves: readonly DomainMove[] =
    displaced && holder
      ? [{ from: holder, to: displaced.state, events: displaced.events }, own]
      : [own];
  const idsOf = (which: (move: DomainMove) => boolean) =>
    moves.filter(which).map(({ from }) => from.id);
  return {
    moves,
    proven: !isCertified(domain) && isCertified(state) ? state : undefined,
    projects: moves.filter(hasOtherRoutes).map(({ to }) => to.projectId),
    withoutOrders: idsOf((move) => !isAttached(move.to) || losesName(move)),
    withoutShares: idsOf((move) => !isAttached(move.to)),
    uncertified: isUncertified(moves) ? state.host : undefined,
  };
};

const hasOtherRoutes = ({ from, to }: DomainMove): boolean => changesRoutes(from, to);

/** All moves concern the same name, and the new holder may keep the certificate. */
const isUncertified = (moves: readonly DomainMove[]): boolean =>
  moves.some(losesCertificate) && !moves.some(({ to }) => isIssued(to));

const losesCertificate = (move: DomainMove): boolean =>
  losesName(move) || (isIssued(move.from) && !isIssued(move.to));

const isIssued = ({ certificate }: CustomDomain): boolean => certificate.kind === 'issued';

const losesName = ({ from, to }: DomainMove): boolean => isCertified(from) && !isCertified(to);

/** @param rivals from then on need a stronger proof of the name */
export const eventsOf = (
  { moves, proven }: Pick<Consequences, 'moves' | 'proven'>,
  rivals: readonly Rival[],
): readonly DomainsEvent[] => [
  ...moves.flatMap(({ events }) => events),
  ...(proven ? rivals.map((rival) => contested(rival, proven.host, provenAt(proven))) : []),
];
