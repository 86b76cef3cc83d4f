import type { Hold } from '../domain/certificates/ca-budget.ts';
import { hostOf } from '../domain/certificates/renewal.ts';
import { keepsOrder, isOrdered } from '../domain/certificates/certificate-status.ts';
import {
  ownAfter,
  ownDueAt,
  type OwnName,
  ownTerms,
  type OwnTerms,
  ownWork,
  pairOf,
  servesHosts,
  unknownOwnName,
  coversHosts,
  isIdle,
  isSoon,
  isSpent,
  ownUnseen,
} from '../domain/own/own-name.ts';
import type { DomainPorts } from '../ports.ts';
import { type OrderOutcome, authoritiesOf, type AuthorityPorts } from './advance-order.ts';
import {
  holdOf,
  workOnCertificate,
  type Applicant,
  type CertificatePorts,
} from './work-on-certificate.ts';
import { agreementOf } from '../domain/dns/problem.ts';
import { isPreview } from '../domain/redirects/redirects.ts';
import { lookAtPlatform, type PlatformDns } from './check-platform.ts';
import { earliest } from '../../kernel/ports.ts';

/** Each lane runs until `next` returns false or fails. @throws the first lane's error, after all have ended */
export const runConcurrently = async (
  lanes: number,
  next: () => Promise<boolean>,
): Promise<void> => {
  const lane = async (): Promise<void> => {
    while (await next());
  };
  await allEnded(Array.from({ length: lanes }, lane));
};

/** Waits for all promises. @throws the first error */
export const allEnded = async <Result>(
  running: readonly Promise<Result>[],
): Promise<readonly Result[]> => {
  await Promise.allSettled(running);
  return Promise.all(running);
};

const mostHosts = 500;
const lanes = 8;

type Ports = OwnHostPorts &
  Pick<
    DomainPorts,
    'accountOf' | 'edgeRecords' | 'hostNames' | 'naming' | 'dns' | 'hasPlatformFiles'
  >;

/** The platform's certificate, or one for each project's own host. @returns the number of certificates issued */
export const secureSites =
  (ports: Ports) =>
  async (isStopping: () => boolean = () => false): Promise<number> => {
    if (ports.hasPlatformFiles) return 0;
    const names = await knownNames(ports);
    const dns = lookOnce(ports);
    const pair = await securePair(ports, names, dns);
    if (pair.isEnough) return pair.issued;
    return (
      pair.issued + (await secureHosts(ports, await dueHosts(ports, names), { isStopping, dns }))
    );
  };

export const sitesDueAt = (ports: Ports) => async (): Promise<Date | undefined> => {
  if (ports.hasPlatformFiles) return undefined;
  const names = await knownNames(ports);
  const pair = knownPair(ports, names);
  const isPairEnough = coversHosts(pair, ports.clock.now()) || isUnderWay(pair);
  const ours = ports.naming.acmeDnsZone === undefined ? [] : [ownDueAt(pair)];
  const hosts = isPairEnough ? [] : await ownHosts(ports, names);
  return earliest([...ours, ...hosts.map(({ known }) => ownDueAt(known))]);
};

const knownNames = async ({ ownNames }: Pick<Ports, 'ownNames'>): Promise<Known> =>
  new Map((await ownNames.all()).map((one) => [one.host, one]));

const knownPair = (ports: Pick<Ports, 'naming'>, names: Known): OwnName => {
  const { host } = pairOf(ports.naming.platformHost);
  return names.get(host) ?? unknownOwnName(host);
};

export type NeededPorts = Pick<DomainPorts, 'ownNames' | 'naming' | 'hasPlatformFiles' | 'clock'>;

/** The platform's names that need a certificate: all, or only the pair while it covers the others. */
export const neededNames = async (ports: NeededPorts): Promise<readonly OwnName[]> => {
  if (ports.hasPlatformFiles) return [];
  const names = await knownNames(ports);
  const pair = knownPair(ports, names);
  return coversHosts(pair, ports.clock.now()) ? [pair] : [...names.values()];
};

type Dns = () => Promise<PlatformDns>;

const lookOnce = (ports: Ports): Dns => {
  let looked: Promise<PlatformDns> | undefined;
  return () => (looked ??= lookAtPlatform(ports));
};

interface PairWork {
  readonly issued: number;
  readonly isEnough: boolean;
}

type Known = ReadonlyMap<string, OwnName>;

const securePair = async (ports: Ports, names: Known, dns: Dns): Promise<PairWork> => {
  const { clock, naming, ownNames } = ports;
  const own = platformPair(ports);
  const { host } = own;
  const known = knownPair(ports, names);
  const isIdle = naming.acmeDnsZone === undefined || ownDueAt(known) > clock.now();
  const isKnownEnough = coversHosts(known, clock.now()) || isUnderWay(known);
  if (isIdle) return { issued: 0, isEnough: isKnownEnough };
  if (!(await mayOrderPair(known, dns)))
    return { issued: 0, isEnough: isKnownEnough || (await mayComeSoon(ports, known, dns)) };
  const { mayIssue } = (await dns()).pair;
  const result = await secureOwnHost(ports)({ own, known, mayIssue });
  const after = (await ownNames.find(host)) ?? known;
  return {
    issued: result === 'issued' ? 1 : 0,
    isEnough: coversHosts(after, clock.now()) || isFirst(after),
  };
};

/** Until the first failure, hosts wait for the pair and use no limits. */
const isFirst = ({ certificate: { work } }: OwnName): boolean => (work.attempts?.failed ?? 0) === 0;

const isUnderWay = (name: OwnName): boolean => isOrdered(name) && isFirst(name);

/** An order in progress continues, regardless of the DNS. */
const mayOrderPair = async (known: OwnName, dns: Dns): Promise<boolean> => {
  if (isOrdered(known)) return true;
  const { delegation, pair } = await dns();
  return delegation === 'right' && agreementOf(pair.issuance) !== 'wrong';
};

/** A resolver failure must not use up a week's limit, so hosts wait a day for an answer. */
const mayComeSoon = async (ports: Ports, known: OwnName, dns: Dns): Promise<boolean> => {
  const now = ports.clock.now();
  const isUnknown = isFirst(known) && (await dns()).delegation === 'unknown';
  if (!isUnknown || !isSoon(known, now)) return false;
  await ports.ownNames.change(known.host, (one) => ({ name: ownUnseen(one ?? known, now) }));
  return true;
};

interface Wanted {
  readonly slug: string;
  readonly known: OwnName;
}

const ownHosts = async (ports: Ports, names: Known): Promise<readonly Wanted[]> => {
  const { edgeRecords, naming } = ports;
  const slugs = (await edgeRecords.names()).filter(
    (name) => !name.includes('.') && !isPreview(name),
  );
  return slugs.map((slug) => {
    const host = hostOf(slug, naming.platformHost);
    return { slug, known: names.get(host) ?? unknownOwnName(host) };
  });
};

const dueHosts = async (ports: Ports, names: Known): Promise<readonly Wanted[]> => {
  const now = ports.clock.now();
  return (await ownHosts(ports, names)).filter(({ known }) => ownDueAt(known) <= now);
};

const secureHosts = async (
  ports: Ports,
  wanted: readonly Wanted[],
  { isStopping, dns }: { readonly isStopping: () => boolean; readonly dns: Dns },
): Promise<number> => {
  const secure = secureOwnHost(ports);
  const waiting = wanted.values();
  const results: OwnHostResult[] = [];
  const isOver = () => isStopping() || results.length >= mostHosts || results.includes('refused');
  const next = async (): Promise<boolean> => {
    const { value: its } = isOver() ? {} : waiting.next();
    const accountId = its && (await ports.accountOf(its.slug));
    if (its && accountId !== undefined) {
      const own = ownHost(ports, { accountId, slug: its.slug });
      const mayIssue = await authoritiesForHosts(ports, dns);
      const result = await secure({ own, known: its.known, mayIssue });
      if (result !== 'held up') results.push(result);
    }
    return its !== undefined;
  };
  // The first order is made alone, to see whether the authority answers.
  while (results.length === 0 && (await next()));
  await runConcurrently(lanes, next);
  return results.filter((result) => result === 'issued').length;
};

const authoritiesForHosts = async (
  { authority, secondAuthority }: Ports,
  dns: Dns,
): Promise<readonly string[]> =>
  secondAuthority ? (await dns()).hosts.mayIssue : [authority.name];

type ForgetPorts = Pick<
  DomainPorts,
  'accountOf' | 'edgeRecords' | 'ownNames' | 'naming' | 'hasPlatformFiles' | 'clock'
>;

/** Deletes certificates that nobody needs any more. @returns how many */
export const forgetOwnNames =
  (ports: ForgetPorts) =>
  async (isStopping: () => boolean = () => false): Promise<number> => {
    const { ownNames, hasPlatformFiles, clock } = ports;
    const now = clock.now();
    const names = await knownNames(ports);
    const isCovered = hasPlatformFiles || coversHosts(knownPair(ports, names), now);
    const abandoned = await abandonedHosts(ports, [...names.keys()]);
    let forgotten = 0;
    for (const [host, known] of names) {
      if (isStopping()) break;
      const isOver = (name: OwnName) =>
        (isCovered && isSpent(name, now)) || (abandoned.has(host) && isIdle(name, now));
      if (isOver(known) && (await ownNames.forget(host, now, isOver))) forgotten += 1;
    }
    return forgotten;
  };

const abandonedHosts = async (
  { edgeRecords, accountOf, naming: { platformHost } }: ForgetPorts,
  hosts: readonly string[],
): Promise<ReadonlySet<string>> => {
  const served = new Set((await edgeRecords.names()).map((name) => hostOf(name, platformHost)));
  const { host: pair } = pairOf(platformHost);
  const abandoned = new Set<string>();
  for (const host of hosts.filter((one) => one !== pair && !served.has(one))) {
    const slug = host.slice(0, -`.${platformHost}`.length);
    if ((await accountOf(slug)) === undefined) abandoned.add(host);
  }
  return abandoned;
};

interface OwnProject {
  readonly accountId: string;
  readonly slug: string;
  readonly servedDeployId: string | undefined;
}

type NamePorts = Pick<DomainPorts, 'hostNames' | 'naming'>;

const ownHost = (
  { hostNames, naming }: NamePorts,
  { accountId, slug }: Pick<OwnProject, 'accountId' | 'slug'>,
): OwnTerms => {
  const host = hostOf(slug, naming.platformHost);
  const { registrableDomain = host } = hostNames.read(host);
  const kinds = { first: 'own', later: 'own_renewal', counted: 'own_counted' } as const;
  return ownTerms({ host, payer: { accountId, registrableDomain }, kinds });
};

/** Belongs to no account; its orders use the reserve for renewals. */
const platformPair = ({ hostNames, naming: { platformHost } }: NamePorts): OwnTerms => {
  const { registrableDomain = platformHost } = hostNames.read(platformHost);
  const kinds = { first: 'renewal', later: 'renewal', counted: 'own_counted' } as const;
  return ownTerms({ ...pairOf(platformHost), payer: { accountId: '', registrableDomain }, kinds });
};

type OwnHostPorts = CertificatePorts & Pick<DomainPorts, 'ownNames'>;

type OwnHostResult = 'issued' | 'failed' | 'refused' | 'held up';

interface OwnTask {
  readonly own: OwnTerms;
  readonly known: OwnName;
  readonly mayIssue: readonly string[];
}

const secureOwnHost =
  (ports: OwnHostPorts) =>
  async (task: OwnTask): Promise<OwnHostResult> => {
    const { own, known, mayIssue } = task;
    if (ownDueAt(known) > ports.clock.now()) return 'held up';
    const work = workOnCertificate(ports, applicantFor(ports, task));
    const outcome = await work(ownWork(known, own, mayIssue));
    return outcome ? resultOf(outcome) : 'held up';
  };

const applicantFor = (
  { ownNames, clock }: OwnHostPorts,
  { own, known, mayIssue }: OwnTask,
): Applicant => {
  const workIn = (name: OwnName) => ownWork(name, own, mayIssue);
  return {
    find: async () => {
      const name = await ownNames.find(own.host);
      return name && workIn(name);
    },
    change: async (command) => {
      const { name, outcome } = await ownNames.change(own.host, (one = known) =>
        ownAfter(one, command(workIn(one))),
      );
      return { work: workIn(name), outcome };
    },
    changeCounted: async (authority, command) => {
      const ledgerName = { authority, host: own.host, ...own.payer };
      const counted = ownNames.changeCounted(ledgerName, clock.now(), (one = known, use) =>
        ownAfter(one, command(workIn(one), use)),
      );
      const { name, outcome } = await counted;
      return { work: workIn(name), outcome };
    },
    prepare: (work) => Promise.resolve(work),
  };
};

const resultOf = (outcome: OrderOutcome): OwnHostResult => {
  if (outcome.kind === 'issued') return 'issued';
  if (outcome.kind === 'held_up') return 'held up';
  if (outcome.kind !== 'failed' && outcome.kind !== 'not_placed') return 'failed';
  return keepsOrder(outcome.failure.reason) ? 'refused' : 'failed';
};

type ShowPorts = AuthorityPorts &
  NamePorts &
  Pick<
    DomainPorts,
    'certificates' | 'ledger' | 'orders' | 'clock' | 'ownNames' | 'hasPlatformFiles'
  >;

export const hasPlatformCertificate =
  ({
    ownNames,
    naming,
    hasPlatformFiles,
    clock,
  }: Pick<DomainPorts, 'ownNames' | 'naming' | 'hasPlatformFiles' | 'clock'>) =>
  async (): Promise<boolean> =>
    hasPlatformFiles ||
    servesHosts(await ownNames.find(pairOf(naming.platformHost).host), clock.now());

export const showOwnHold =
  (ports: ShowPorts) =>
  async (project: OwnProject): Promise<Hold | undefined> => {
    const { ownNames, certificates, naming, hasPlatformFiles, clock } = ports;
    if (project.servedDeployId === undefined || hasPlatformFiles) return undefined;
    const own = ownHost(ports, project);
    const pair = await ownNames.find(pairOf(naming.platformHost).host);
    if (servesHosts(pair, clock.now()) || (await certificates.find(own.host))) return undefined;
    const known = (await ownNames.find(own.host)) ?? unknownOwnName(own.host);
    const mayIssue = authoritiesOf(ports).map(({ name }) => name);
    return holdOf(ports, ownWork(known, own, mayIssue));
  };
