import { mayOrder, type Hold, type OrderKind } from '../domain/certificates/ca-budget.ts';
import { isOver, ownOrderFailed, type LedgerName } from '../domain/certificates/ca-ledger.ts';
import { hostOf } from '../domain/certificates/certificate.ts';
import { keepsOrder } from '../domain/certificates/standing.ts';
import type { DomainPorts } from '../ports.ts';
import type { OrderOutcome, OrderPorts, OrderSubject } from './advance-order.ts';
import { findHold, secureName, type SettledOutcome } from './secure-name.ts';

export type OwnHostPorts = OrderPorts &
  Pick<DomainPorts, 'certificates' | 'ledger' | 'clock' | 'ids'>;

/** The own host of a project, below the platform's. */
export interface OwnHost {
  readonly name: LedgerName;
  readonly kind: Extract<OrderKind, 'own' | 'own_renewal'>;
}

/** `refused`: the authority is rate limiting us or does not answer, whatever the host. */
export type OwnHostResult = 'issued' | 'failed' | 'refused' | 'held up';

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
  kind: OwnHost['kind'],
): OwnHost => {
  const host = hostOf(slug, naming.platformHost);
  const { registrableDomain = host } = hostNames.read(host);
  return { name: { accountId, host, registrableDomain }, kind };
};

/** One subject per host, so a host never has two orders at a time. */
const ownSubject = (host: string): string => `platform:${host}`;

/** What work on the certificate of a project's own host waits for; undefined: it may go on now. */
const ownHold = async (
  ports: Pick<OwnHostPorts, 'ledger' | 'orders' | 'clock'>,
  { name, kind }: OwnHost,
): Promise<Hold | undefined> => {
  const kept = await ports.orders.find(ownSubject(name.host));
  const isCounted = kept?.url !== undefined;
  return findHold(ports, name, { isManual: false, kind: isCounted ? 'own_counted' : kind });
};

type ShowPorts = NamePorts & Pick<DomainPorts, 'certificates' | 'ledger' | 'orders' | 'clock'>;

/** @returns what the certificate of a project's own host waits for; undefined when it has one, or needs none yet */
export const showOwnHold =
  (ports: ShowPorts) =>
  async (project: OwnProject): Promise<Hold | undefined> => {
    const own = ownHost(ports, project, 'own');
    const isWanted =
      project.servedDeployId !== undefined && !(await ports.certificates.find(own.name.host));
    return isWanted ? ownHold(ports, own) : undefined;
  };

/** Advances the certificate of a project's own host as far as possible now. */
export const secureOwnHost =
  (ports: OwnHostPorts) =>
  async (own: OwnHost): Promise<OwnHostResult> => {
    if (await ownHold(ports, own)) return 'held up';
    const outcome = await secureName(ports, {
      ordered: ownOrder(own, ownSubject(own.name.host)),
      claim: () => claimOwn(ports, own),
      settle: settleOwn(ports, own),
    });
    return outcome ? resultOf(outcome) : 'held up';
  };

/** A project keeps its own host for as long as it exists, so the order is always wanted. */
const ownOrder = ({ name: { host } }: OwnHost, orderKey: string): OrderSubject => ({
  ...{ subject: ownSubject(host), host, orderKey, replaces: undefined },
  isWanted: () => Promise.resolve(true),
});

const claimOwn = async (
  { ledger, clock, ids }: OwnHostPorts,
  own: OwnHost,
): Promise<OrderSubject | undefined> => {
  const { name, kind } = own;
  const now = clock.now();
  const orderKey = `${ownSubject(name.host)}:${ids.next('ord')}`;
  const order = { ...name, kind, orderKey, isManual: false, occurredAt: now };
  const { allowed } = await ledger.reserve(order, (use) => mayOrder(use, order, now));
  return allowed ? ownOrder(own, orderKey) : undefined;
};

const settleOwn =
  ({ certificates, ledger, orders, clock }: OwnHostPorts, { name }: OwnHost) =>
  async (order: OrderSubject, outcome: SettledOutcome): Promise<void> => {
    if (outcome.kind === 'processing') return;
    if (outcome.kind === 'issued') return certificates.save(outcome.certificate, order.subject);
    const entry = { ...name, orderKey: order.orderKey, isManual: false };
    const change = ownOrderFailed(entry, outcome, clock.now());
    await (isOver(outcome) ? orders.forget(order.subject, change) : ledger.settle(change));
  };

const resultOf = (outcome: OrderOutcome): OwnHostResult => {
  if (outcome.kind === 'issued') return 'issued';
  if (outcome.kind !== 'failed' && outcome.kind !== 'not_placed') return 'failed';
  return keepsOrder(outcome.failure.reason) ? 'refused' : 'failed';
};
