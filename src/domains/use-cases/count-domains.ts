import {
  type CertificateKind,
  certificateKindOf,
  certificateKinds,
  type DomainKind,
  domainKinds,
  kindOf,
  kindOfCertificate,
} from '../domain/attachment/census.ts';
import {
  type CustomDomain,
  type CustomDomainState,
  customDomainStates,
} from '../domain/attachment/custom-domain.ts';
import { isDeleted } from '../domain/attachment/serving.ts';
import { budgetsLeft } from '../domain/certificates/ca-budget.ts';
import type { CustomDomains, DomainPorts } from '../ports.ts';
import { authoritiesOf, type AuthorityPorts } from './advance-order.ts';
import { type NeededPorts, neededNames } from './secure-sites.ts';

const page = 100;

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

type Ports = AuthorityPorts & NeededPorts & Pick<DomainPorts, 'domains' | 'ledger'>;

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

/** Reads every domain that is not removed. @param isStopping the counts are incomplete once it returns true */
export const countDomains =
  (ports: Ports) =>
  async (isStopping: () => boolean = () => false): Promise<DomainCensus> => {
    const { domains, clock } = ports;
    const now = clock.now();
    const [found, needed]: [DomainKind[], CertificateKind[]] = [[], []];
    const count = (domain: CustomDomain) => {
      if (isDeleted(domain)) return;
      found.push(kindOf(domain, now));
      const kind = certificateKindOf(domain, now);
      if (kind) needed.push(kind);
    };
    for (const state of customDomainStates.filter((one) => isRead[one])) {
      for await (const domain of allIn(domains, state, isStopping)) count(domain);
    }
    for (const { certificate } of await neededNames(ports))
      if (certificate.kind === 'issued') needed.push(kindOfCertificate(certificate, now));
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

const countBudgets = async (ports: Ports, now: Date): Promise<DomainCensus['budgets']> => {
  const counted = authoritiesOf(ports).map(async ({ name: authority }) =>
    budgetsLeft(await ports.ledger.orders(authority, now), now).map((one) => ({
      authority,
      ...one,
    })),
  );
  return (await Promise.all(counted)).flat();
};

const tally = <Kind extends object>(
  kinds: readonly Kind[],
  found: readonly Kind[],
): readonly Counted<Kind>[] => {
  const key = (kind: Kind) => Object.entries(kind).sort().join();
  const groups = Map.groupBy(found, key);
  return kinds.map((kind) => ({ ...kind, count: groups.get(key(kind))?.length ?? 0 }));
};
