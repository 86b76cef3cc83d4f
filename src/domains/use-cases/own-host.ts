import type { Hold } from '../domain/certificates/ca-budget.ts';
import { hostOf } from '../domain/certificates/renewal.ts';
import { keepsOrder } from '../domain/certificates/certificate-status.ts';
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
} from '../domain/own/own-name.ts';
import type { DomainPorts } from '../ports.ts';
import { type OrderOutcome, authoritiesOf, type AuthorityPorts } from './advance-order.ts';
import {
  holdOf,
  workOnCertificate,
  type Applicant,
  type CertificatePorts,
} from './work-on-certificate.ts';

interface OwnProject {
  readonly accountId: string;
  readonly slug: string;
  readonly servedDeployId: string | undefined;
}

type NamePorts = Pick<DomainPorts, 'hostNames' | 'naming'>;

export const ownHost = (
  { hostNames, naming }: NamePorts,
  { accountId, slug }: Pick<OwnProject, 'accountId' | 'slug'>,
): OwnTerms => {
  const host = hostOf(slug, naming.platformHost);
  const { registrableDomain = host } = hostNames.read(host);
  const kinds = { first: 'own', later: 'own_renewal', counted: 'own_counted' } as const;
  return ownTerms({ host, payer: { accountId, registrableDomain }, kinds });
};

/** Belongs to no account; its orders use the reserve for renewals. */
export const platformPair = ({ hostNames, naming: { platformHost } }: NamePorts): OwnTerms => {
  const { registrableDomain = platformHost } = hostNames.read(platformHost);
  const kinds = { first: 'renewal', later: 'renewal', counted: 'own_counted' } as const;
  return ownTerms({ ...pairOf(platformHost), payer: { accountId: '', registrableDomain }, kinds });
};

export type OwnHostPorts = CertificatePorts & Pick<DomainPorts, 'ownNames'>;

/** `refused`: the authority limits us or does not answer, regardless of the host. */
export type OwnHostResult = 'issued' | 'failed' | 'refused' | 'held up';

interface OwnTask {
  readonly own: OwnTerms;
  readonly known: OwnName;
  readonly mayIssue: readonly string[];
}

export const secureOwnHost =
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
      const { name, outcome } = await ownNames.change(own.host, (one = known) => {
        const change = command(workIn(one));
        return { ...ownAfter(one, change), outcome: change.outcome };
      });
      return { work: workIn(name), outcome };
    },
    changeCounted: async (authority, command) => {
      const ledgerName = { authority, host: own.host, ...own.payer };
      const counted = ownNames.changeCounted(ledgerName, clock.now(), (one = known, use) => {
        const change = command(workIn(one), use);
        return { ...ownAfter(one, change), outcome: change.outcome };
      });
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

/** @returns the limit that a project's host waits for; undefined if it has a certificate or needs none */
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
