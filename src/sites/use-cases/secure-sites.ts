import { mayOrder, type CaUse } from '../domain/ca-budget.ts';
import { keepsOrder } from '../domain/certificate-standing.ts';
import { hostOf, isDueForRenewal } from '../domain/certificate.ts';
import type { DomainPorts, LedgerEntry } from '../domain-ports.ts';
import type { SitesPorts } from '../ports.ts';
import { advanceOrder, type OrderOutcome } from './advance-order.ts';

/** In one run. */
const mostHosts = 500;
/** Side by side: one host waits for the authority most of the time. */
const lanes = 8;

type Name = Pick<LedgerEntry, 'host' | 'registrableDomain'>;

/** `refused`: it wants to hear nothing now, or says nothing, whatever the host. */
type Result = 'issued' | 'failed' | 'refused';

/** A project keeps its own host as long as there is the project. */
const isWanted = () => Promise.resolve(true);

type Ports = Pick<SitesPorts, 'edgeRecords'> & DomainPorts;

/**
 * Gets a certificate for every project's own host that has none, or whose is due for renewal. Custom domains see
 * to theirs by themselves.
 * @returns how many it got
 */
export const secureSites = (ports: Ports) => {
  const { edgeRecords, certificates, hostNames, ledger, naming, clock, orders } = ports;
  const advance = advanceOrder(ports);

  /** Runs follow each other closely: an authority that refuses must not be asked in each of them. */
  const mayTry = async (name: Name, isBegun: boolean): Promise<boolean> => {
    const now = clock.now();
    const decide = (use: CaUse) => mayOrder(use, { isManual: false, kind: 'own' }, now);
    if (!isBegun) {
      const order = { ...name, kind: 'order', isManual: false, occurredAt: now } as const;
      return (await ledger.reserve(order, decide)).allowed;
    }
    // It has its place among the orders already.
    return mayOrder(await ledger.use(name, now), { isManual: false, kind: 'renewal' }, now).allowed;
  };

  const secure = async (host: string): Promise<Result> => {
    const { registrableDomain = host } = hostNames.read(host);
    const name = { host, registrableDomain };
    const subject = `platform:${host}`;
    const isBegun = (await orders.find(subject)) !== undefined;
    if (!(await mayTry(name, isBegun))) return 'failed';
    const outcome = await advance({ subject, host, replaces: undefined, isWanted });
    if (outcome.kind === 'issued') await certificates.save(outcome.certificate);
    if (isOver(outcome)) await orders.forget(subject);
    if (outcome.kind !== 'failed') return outcome.kind === 'issued' ? 'issued' : 'failed';
    const { reason } = outcome.failure;
    if (reason !== 'unavailable') {
      const failure = { ...name, kind: 'failure', isManual: false } as const;
      await ledger.record({ ...failure, occurredAt: clock.now() });
    }
    return reason === 'rate_limited' || reason === 'unavailable' ? 'refused' : 'failed';
  };

  return async (isStopping: () => boolean = () => false): Promise<number> => {
    const now = clock.now();
    const validities = await certificates.validities();
    const isWanting = (host: string) => {
      const validity = validities.get(host);
      return !validity || isDueForRenewal(validity, now);
    };
    const labels = (await edgeRecords.names()).filter((name) => !name.includes('.'));
    const hosts = labels.map((label) => hostOf(label, naming.platformHost)).filter(isWanting);
    const waiting = hosts.slice(0, mostHosts).values();
    let secured = 0;
    let isRefused = false;
    const next = async (): Promise<boolean> => {
      const { value: host } = waiting.next();
      if (host === undefined || isRefused || isStopping()) return false;
      const result = await secure(host);
      if (result === 'issued') secured += 1;
      if (result === 'refused') isRefused = true;
      return true;
    };
    const lane = async (): Promise<void> => {
      while (await next());
    };
    // The first one alone: it shows whether the authority listens at all.
    await next();
    await Promise.all(Array.from({ length: lanes }, lane));
    return secured;
  };
};

const isOver = (outcome: OrderOutcome): boolean =>
  outcome.kind === 'issued' || (outcome.kind === 'failed' && !keepsOrder(outcome.failure.reason));
