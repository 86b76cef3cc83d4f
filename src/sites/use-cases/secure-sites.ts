import { mayOrder } from '../domain/ca-budget.ts';
import { keepsOrder } from '../domain/certificate-standing.ts';
import { hostOf, isDueForRenewal } from '../domain/certificate.ts';
import type { DomainPorts, LedgerEntry } from '../domain-ports.ts';
import type { SitesPorts } from '../ports.ts';
import { advanceOrder, type OrderOutcome } from './advance-order.ts';

/** In one run: an authority that is slow must not hold up everything else. */
const mostAtOnce = 500;

type Name = Pick<LedgerEntry, 'host' | 'registrableDomain'>;

/** `refused`: it wants to hear nothing now, whatever the host. */
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
  const mayTry = async (name: Name): Promise<boolean> => {
    const now = clock.now();
    const use = await ledger.use(name, now);
    return mayOrder(use, { isManual: false, replaces: true }, now).allowed;
  };

  const secure = async (host: string): Promise<Result> => {
    const { registrableDomain = host } = hostNames.read(host);
    const name = { host, registrableDomain };
    if (!(await mayTry(name))) return 'failed';
    const subject = `platform:${host}`;
    const outcome = await advance({ subject, host, replaces: undefined, isWanted });
    if (outcome.kind === 'issued') await certificates.save(outcome.certificate);
    if (isOver(outcome)) await orders.forget(subject);
    if (outcome.kind !== 'failed') return outcome.kind === 'issued' ? 'issued' : 'failed';
    const { reason } = outcome.failure;
    if (reason !== 'unavailable') {
      const failure = { ...name, kind: 'failure', isManual: false } as const;
      await ledger.record({ ...failure, occurredAt: clock.now() });
    }
    return reason === 'rate_limited' ? 'refused' : 'failed';
  };

  return async (): Promise<number> => {
    const now = clock.now();
    const validities = await certificates.validities();
    const isWanting = (host: string) => {
      const validity = validities.get(host);
      return !validity || isDueForRenewal(validity, now);
    };
    const labels = (await edgeRecords.names()).filter((name) => !name.includes('.'));
    const hosts = labels.map((label) => hostOf(label, naming.platformHost)).filter(isWanting);
    let secured = 0;
    for (const host of hosts.slice(0, mostAtOnce)) {
      const result = await secure(host);
      if (result === 'issued') secured += 1;
      if (result === 'refused') break;
    }
    return secured;
  };
};

const isOver = (outcome: OrderOutcome): boolean =>
  outcome.kind === 'issued' || (outcome.kind === 'failed' && !keepsOrder(outcome.failure.reason));
