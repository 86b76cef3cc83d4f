import { chooseAuthority } from '../domain/certificates/authorities.ts';
import type { Hold, OrderKind } from '../domain/certificates/ca-budget.ts';
import type { LedgerName } from '../domain/certificates/ca-ledger.ts';
import { hostOf } from '../domain/certificates/certificate.ts';
import { ownChoice, ownOrderedAt, type OwnName } from '../domain/own/own-name.ts';
import { ownSubject } from '../domain/own/own-order.ts';
import { pairOf, platformLabel } from '../domain/own/platform.ts';
import type { DomainPorts } from '../ports.ts';
import type { Proof } from './advance-order.ts';
import type { AuthorityPorts } from './authorities.ts';
import { findHold } from './secure-name.ts';

/** A name of the platform that gets a certificate. */
export interface OwnHost {
  /** Without the authority. */
  readonly name: Omit<LedgerName, 'authority'>;
  /** Further names of the same certificate. */
  readonly also?: readonly string[];
  readonly proof: Proof;
  readonly kinds: Readonly<
    Record<'first' | 'later', Extract<OrderKind, 'renewal' | `own${string}`>>
  >;
}

/** A project with a host of its own below the platform's. */
export interface OwnProject {
  readonly accountId: string;
  readonly slug: string;
  readonly servedDeployId: string | undefined;
}

type NamePorts = Pick<DomainPorts, 'hostNames' | 'naming'>;

export const ownHost = (
  { hostNames, naming }: NamePorts,
  { accountId, slug }: Pick<OwnProject, 'accountId' | 'slug'>,
): OwnHost => {
  const host = hostOf(slug, naming.platformHost);
  const { registrableDomain = host } = hostNames.read(host);
  return {
    name: { accountId, host, registrableDomain },
    proof: { method: 'http-01' },
    kinds: { first: 'own', later: 'own_renewal' },
  };
};

/** It belongs to no account, and its orders come out of what is kept for renewals. */
export const platformPair = ({ hostNames, naming: { platformHost } }: NamePorts): OwnHost => {
  const { registrableDomain = platformHost } = hostNames.read(platformHost);
  const { host, also } = pairOf(platformHost);
  return {
    ...{ name: { accountId: '', host, registrableDomain }, also },
    proof: { method: 'dns-01', label: platformLabel },
    kinds: { first: 'renewal', later: 'renewal' },
  };
};

/** Work on one name. */
export interface OwnTask {
  readonly own: OwnHost;
  readonly known: OwnName;
  /** The names of the authorities that CAA allows. */
  readonly mayIssue: readonly string[];
  readonly authority: string;
  readonly kind: OrderKind;
}

export type GivenTask = Omit<OwnTask, 'authority' | 'kind'>;

/** @param mayIssue the names of the authorities that CAA allows; empty where that is not known */
export const taskFor = (
  ports: AuthorityPorts & Pick<DomainPorts, 'clock'>,
  its: GivenTask,
): OwnTask => {
  const { known, own } = its;
  const chosen = chooseAuthority(ownChoice(known, its.mayIssue), ports.clock.now());
  const kind = own.kinds[known.certificate.kind === 'issued' ? 'later' : 'first'];
  return { ...its, kind, authority: chosen ?? ports.authority.name };
};

/** The authority has issued its certificate, and says when to renew it (RFC 9773, section 5). */
export const mayReplace = ({ certificate }: OwnName, authority: string): boolean =>
  certificate.kind === 'issued' && certificate.hasWindow && certificate.issuedBy === authority;

/** What work on a certificate waits for; undefined: it may go on now. */
export const ownHold = async (
  ports: Pick<DomainPorts, 'ledger' | 'orders' | 'clock'>,
  task: OwnTask,
): Promise<Hold | undefined> => {
  const { known, own, authority } = task;
  const at = ownOrderedAt(known);
  const kept = at === undefined ? undefined : await ports.orders.find(ownSubject(known));
  const isCounted = kept?.url !== undefined;
  const kind = isCounted ? 'own_counted' : task.kind;
  const name = { ...own.name, authority: isCounted && at ? at : authority };
  return findHold(ports, name, { isManual: false, kind });
};
