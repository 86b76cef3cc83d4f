import {
  type CertificateKind,
  certificateKindOf,
  certificateKinds,
  type DomainKind,
  domainKinds,
  kindOf,
  ownCertificateKind,
} from '../domain/attachment/census.ts';
import {
  type CustomDomain,
  type CustomDomainState,
  customDomainStates,
} from '../domain/attachment/custom-domain.ts';
import { isDeleted } from '../domain/attachment/serving.ts';
import { budgetsLeft } from '../domain/certificates/ca-budget.ts';
import { coversHosts, pairOf } from '../domain/own/own-name.ts';
import type { CustomDomains, DomainPorts } from '../ports.ts';
import { authoritiesOf, type AuthorityPorts } from './advance-order.ts';

const page = 100;

/** Reads all domains in a state, page by page, until `isStopping` returns true. */
export async function* allIn(
  domains: Pick<CustomDomains, 'inState'>,
  state: CustomDomainState,
  isStopping: () => boolean = () => false,
): AsyncGenerator<CustomDomain, undefined> {
  for (let after = ''; !isStopping();) {
    const found = await domains.inState(state, after, page);
    yield* found;
    const last = found.at(-1);
    if (!last || found.length < page) return;
    after = last.id;
  }
}

type Ports = AuthorityPorts &
  Pick<
    DomainPorts,
    'domains' | 'certificates' | 'ledger' | 'clock' | 'ownNames' | 'naming' | 'hasPlatformFiles'
  >;

export interface DomainCensus {
  readonly domains: readonly Counted<DomainKind>[];
  readonly certificates: readonly Counted<CertificateKind>[];
  readonly budgets: readonly (ReturnType<typeof budgetsLeft>[number] & {
    readonly authority: string;
  })[];
}

type Counted<Kind> = Kind & { readonly count: number };

const isRead = {
  added: true,
  verified: true,
  live: true,
  removed: false,
} as const satisfies Readonly<Record<CustomDomainState, boolean>>;

/**
 * Counts domains, certificates and remaining budgets for operators. Reads every domain that is not removed.
 * @param isStopping the counts are incomplete once it returns true
 */
export const countDomains =
  (ports: Ports) =>
  async (isStopping: () => boolean = () => false): Promise<DomainCensus> => {
    const { domains, certificates, clock } = ports;
    const now = clock.now();
    const [found, needed]: [DomainKind[], CertificateKind[]] = [[], []];
    const own = new Map(await certificates.validities());
    const count = (domain: CustomDomain) => {
      own.delete(domain.host);
      if (isDeleted(domain)) return;
      found.push(kindOf(domain, now));
      const kind = certificateKindOf(domain, now);
      if (kind) needed.push(kind);
    };
    for (const state of customDomainStates.filter((one) => isRead[one])) {
      for await (const domain of allIn(domains, state, isStopping)) count(domain);
    }
    const isNeeded = await neededOwn(ports, now);
    for (const [host, validity] of own)
      if (isNeeded(host)) needed.push(ownCertificateKind({ ...validity, host }, now));
    const others = await domains.countByState();
    const unread = domainKinds.filter(({ state }) => !isRead[state]);
    return {
      domains: [
        ...unread.map((kind) => ({ ...kind, count: others[kind.state] })),
        ...tally(
          domainKinds.filter(({ state }) => isRead[state]),
          found,
        ),
      ],
      certificates: tally(certificateKinds, needed),
      budgets: await countBudgets(ports, now),
    };
  };

/** If one certificate covers all platform names, the others are not renewed. */
const neededOwn = async (
  { ownNames, naming: { platformHost }, hasPlatformFiles }: Ports,
  now: Date,
): Promise<(host: string) => boolean> => {
  const { host: pair } = pairOf(platformHost);
  const isCovered = hasPlatformFiles || coversHosts(await ownNames.find(pair), now);
  return (host) =>
    !isCovered || !host.endsWith(`.${platformHost}`) || (host === pair && !hasPlatformFiles);
};

const countBudgets = async (ports: Ports, now: Date): Promise<DomainCensus['budgets']> => {
  const counted = authoritiesOf(ports).map(async ({ name: authority }) =>
    budgetsLeft(await ports.ledger.orders(authority, now), now).map((one) => ({
      authority,
      ...one,
    })),
  );
  return (await Promise.all(counted)).flat();
};

/** Includes kinds without any. */
const tally = <Kind extends object>(
  kinds: readonly Kind[],
  found: readonly Kind[],
): readonly Counted<Kind>[] => {
  const key = (kind: Kind) => Object.entries(kind).sort().join();
  const groups = Map.groupBy(found, key);
  return kinds.map((kind) => ({ ...kind, count: groups.get(key(kind))?.length ?? 0 }));
};
