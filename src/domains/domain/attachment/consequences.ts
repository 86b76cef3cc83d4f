import type { DomainsEvent } from '../domains-event.ts';
import type { DomainChange } from './change.ts';
import type { CustomDomain } from './custom-domain.ts';
import { isCertified, provenAt, type Certified } from './certificate.ts';
import { contested, type Rival } from './rivals.ts';
import { changesRoutes, isAttached } from './serving.ts';
import type { TimelineEntry } from './timeline.ts';

/** A domain before and after a change. */
export interface DomainMove {
  readonly from: CustomDomain;
  readonly to: CustomDomain;
  readonly events: readonly DomainsEvent[];
  readonly cause?: TimelineEntry | undefined;
}

/** What is stored together with a change of a domain. */
export interface Consequences {
  /** The former holder of the name first: only one domain at a time holds it. */
  readonly moves: readonly DomainMove[];
  /** The domain, if the change proves its name. Others who wait for that name are told. */
  readonly proven: Certified | undefined;
  /** Ids of projects from which other routes follow. */
  readonly projects: readonly string[];
  /** Ids of domains whose orders are forgotten with their challenges and keys. */
  readonly withoutOrders: readonly string[];
  /** Ids of domains whose links no longer work. */
  readonly withoutShares: readonly string[];
  /** The name whose certificate is removed. */
  readonly uncertified: string | undefined;
}

/** @param holder who had proven the name before */
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

/** All moves are of the same name: whoever takes it over may take the certificate, too. */
const isUncertified = (moves: readonly DomainMove[]): boolean =>
  moves.some(losesCertificate) && !moves.some(({ to }) => isIssued(to));

/** Its certificate has ended, or it loses the name. */
const losesCertificate = (move: DomainMove): boolean =>
  losesName(move) || (isIssued(move.from) && !isIssued(move.to));

const isIssued = ({ certificate }: CustomDomain): boolean => certificate.kind === 'issued';

/** A domain that never held the name had no certificate: the one stored under the name belongs to another. */
const losesName = ({ from, to }: DomainMove): boolean => isCertified(from) && !isCertified(to);

/** What the others who wait for the name are told. */
export const rivalsTold = (proven: Certified, rivals: readonly Rival[]): readonly DomainsEvent[] =>
  rivals.map((rival) => contested(rival, proven.host, provenAt(proven)));
