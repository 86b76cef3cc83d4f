import { entryKinds, mayOrder, type CaUse, type OrderKind } from '../domain/ca-budget.ts';
import { keepsOrder } from '../domain/certificate-standing.ts';
import { hostOf, isDueForRenewal } from '../domain/certificate.ts';
import type { DomainPorts, LedgerName } from '../domain-ports.ts';
import type { SitesPorts } from '../ports.ts';
import { advanceOrder, type OrderOutcome } from './advance-order.ts';

/** In one run; those that only wait for a budget do not count. */
const mostHosts = 500;
/** Side by side: one host waits for the authority most of the time. */
const lanes = 8;

interface OwnHost {
  readonly name: LedgerName;
  readonly kind: Extract<OrderKind, 'own' | 'own_renewal'>;
}

/** `refused`: it wants to hear nothing now, or says nothing, whatever the host. */
type Result = 'issued' | 'failed' | 'refused' | 'held up';

/** A project keeps its own host as long as there is the project. */
const isWanted = () => Promise.resolve(true);

type Ports = Pick<SitesPorts, 'edgeRecords' | 'projects'> & DomainPorts;

/**
 * Gets a certificate for every project's own host that has none, or whose is due for renewal. Custom domains see
 * to theirs by themselves.
 * @returns how many it got
 */
export const secureSites = (ports: Ports) => {
  const { edgeRecords, projects, certificates, hostNames, ledger, naming, clock, orders } = ports;
  const advance = advanceOrder(ports);

  /** Runs follow each other closely: an authority that refuses must not be asked in each of them. */
  const mayTry = async ({ name, kind }: OwnHost, isBegun: boolean): Promise<boolean> => {
    const now = clock.now();
    const decide = (use: CaUse) => mayOrder(use, { isManual: false, kind }, now);
    if (!isBegun) {
      const entry = { kind: entryKinds[kind], ...name, isManual: false, occurredAt: now };
      return (await ledger.reserve(entry, decide)).allowed;
    }
    // It has its place among the orders already.
    return mayOrder(await ledger.use(name, now), { isManual: false, kind: 'exempt' }, now).allowed;
  };

  const secure = async (own: OwnHost): Promise<Result> => {
    const { host } = own.name;
    const subject = `platform:${host}`;
    const isBegun = (await orders.find(subject)) !== undefined;
    if (!(await mayTry(own, isBegun))) return 'held up';
    const outcome = await advance({ subject, host, replaces: undefined, isWanted });
    if (outcome.kind === 'issued') await certificates.save(outcome.certificate);
    if (isOver(outcome)) await orders.forget(subject);
    if (outcome.kind !== 'failed') return outcome.kind === 'issued' ? 'issued' : 'failed';
    const { reason } = outcome.failure;
    if (reason !== 'unavailable') {
      const failure = { ...own.name, kind: 'failure', isManual: false } as const;
      await ledger.record({ ...failure, occurredAt: clock.now() });
    }
    return reason === 'rate_limited' || reason === 'unavailable' ? 'refused' : 'failed';
  };

  /** @returns undefined when the project is gone since */
  const ownHost = async (label: string, kind: OwnHost['kind']): Promise<OwnHost | undefined> => {
    const site = await projects.find(label);
    const host = hostOf(label, naming.platformHost);
    const { registrableDomain = host } = hostNames.read(host);
    return site && { name: { accountId: site.project.accountId, host, registrableDomain }, kind };
  };

  return async (isStopping: () => boolean = () => false): Promise<number> => {
    const now = clock.now();
    const validities = await certificates.validities();
    const labels = (await edgeRecords.names()).filter((name) => !name.includes('.'));
    const waiting = labels
      .flatMap((label): readonly Parameters<typeof ownHost>[] => {
        const validity = validities.get(hostOf(label, naming.platformHost));
        if (!validity) return [[label, 'own']];
        return isDueForRenewal(validity, now) ? [[label, 'own_renewal']] : [];
      })
      .values();
    let [tried, secured] = [0, 0];
    let isRefused = false;
    const next = async (): Promise<boolean> => {
      const { value: wanted } = waiting.next();
      if (!wanted || tried >= mostHosts || isRefused || isStopping()) return false;
      const own = await ownHost(...wanted);
      const result = own && (await secure(own));
      if (result !== 'held up') tried += 1;
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
