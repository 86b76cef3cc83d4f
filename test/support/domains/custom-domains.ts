import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import {
  removeDomain,
  unchanged,
  type CustomDomain,
  addsWindowMs,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import { addDomains } from '../../../src/domains/domain/redirects/pair.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { claimName } from '../../../src/domains/domain/attachment/contested-name.ts';
import type {
  TimelineEntry,
  DomainChange,
} from '../../../src/domains/domain/attachment/timeline-entries.ts';
import type { Project } from '../../../src/sites/domain/project.ts';
import type { Route } from '../../../src/domains/domain/redirects/redirects.ts';
import { later, newAccount, now, takeEvents } from '../accounts.ts';
import { allowance, begin, bring, moment, report } from './known-domains.ts';
import { certificateFor, newProject, publish } from '../sites/sites.ts';
import type { StoragePorts } from '../storage-ports.ts';

const ids = new UuidIds();

export const newHost = (): string => `${ids.next('www').replace('_', '-')}.shop.example`;

const validity = { notBefore: now, notAfter: later(90 * 86_400_000) };

export const deployTo = async (
  { projects }: Pick<StoragePorts, 'projects'>,
  project: Project,
): Promise<string> => {
  const id = ids.next('dep');
  await projects.change(project, (site) => publish(site, id));
  return id;
};

/** A project that serves a deploy, in its own account by default. */
export const servedProject = async (stores: StoragePorts, accountId?: string): Promise<Project> => {
  const project = await newProject(stores, accountId ?? (await newAccount(stores)));
  await deployTo(stores, project);
  await takeEvents(stores);
  return project;
};

export interface WantedDomain {
  readonly host?: string;
  readonly at?: Date;
  readonly limit?: number;
  readonly perHour?: number;
}

/** Adds a domain through the port. Its event stays in the outbox. */
export const addTo = async (
  { domains }: Pick<StoragePorts, 'domains'>,
  { accountId, id: projectId }: Project,
  { host = newHost(), at = later(0), limit = 1000, perHour = 1000 }: WantedDomain = {},
): Promise<CustomDomain> => {
  const draft = {
    id: ids.next('dom'),
    accountId,
    projectId,
    token: ids.next('t').replace('_', '-'),
  };
  const name = { host, unicode: host, registrableDomain: 'shop.example', labels: 'www' };
  const addedSince = new Date(at.getTime() - addsWindowMs);
  const wanted = { accountId, projectId, hosts: { typed: host }, addedSince };
  const allowed = { ...allowance, domains: limit, domainsAddedPerHour: perHour };
  const { typed } = await domains.add(wanted, (facts) =>
    addDomains(
      { typed: { ...draft, hostname: { ...name, isApex: false } } },
      { ...facts, allowance: allowed },
      moment(at),
    ),
  );
  return typed.state;
};

export const newDomain = async (
  stores: StoragePorts,
  project: Project,
  wanted: WantedDomain = {},
): Promise<CustomDomain> => {
  const domain = await addTo(stores, project, wanted);
  await takeEvents(stores);
  return domain;
};

const proven = report(later(1), { ownershipProven: true });

export const verify = (domain: CustomDomain): DomainChange =>
  recordCheck(domain, proven, moment(later(1)));

/** Decides that the name is proven, and takes it from its holder. */
export const contest = (domain: CustomDomain, holder: CustomDomain | undefined): DomainChange =>
  claimName(verify(domain), holder, moment(later(1)));

const elsewhere = report(later(1), {
  verifiable: false,
  pointsHere: false,
  ownershipProven: true,
  mayIssue: ['ca.test'],
  validation: { delegated: true, method: 'dns-01' },
});

/** Decides that the name is proven by its delegation, while it still leads elsewhere. */
export const prepare = (domain: CustomDomain, holder: CustomDomain | undefined): DomainChange =>
  claimName(recordCheck(domain, elsewhere, moment(later(1))), holder, moment(later(1)));

export const undelegate = (domain: CustomDomain): DomainChange => {
  const validation = { delegated: false, method: 'http-01' } as const;
  const gone = { ...elsewhere, checkedAt: later(4), ownershipProven: false, validation };
  return recordCheck(domain, gone, moment(later(4)));
};

export const expire = (domain: CustomDomain): DomainChange => {
  const now = validity.notAfter;
  return recordCheck(domain, { ...elsewhere, checkedAt: now }, moment(now));
};

export const arrive = (domain: CustomDomain): DomainChange =>
  recordCheck(domain, { ...proven, checkedAt: later(5) }, moment(later(5)));

export const goLive = (domain: CustomDomain): DomainChange => {
  const { state, events } = begin(domain, later(2));
  const issued = bring(state, later(3), validity);
  return {
    state: issued.state,
    events: [...events, ...issued.events],
    certificate: certificateFor(domain.host, validity),
  };
};

export const remove = (domain: CustomDomain): DomainChange =>
  removeDomain(domain, 'owner', later(4));

export const liveDomain = async (
  stores: StoragePorts,
  project: Project,
  wanted: WantedDomain = {},
): Promise<CustomDomain> => {
  const { id } = await addTo(stores, project, wanted);
  await stores.domains.change(id, verify);
  const { state } = await stores.domains.change(id, goLive);
  await takeEvents(stores);
  return state;
};

/** Creates a domain through the port that has a certificate before its traffic arrives, and removes its events. */
export const readyDomain = async (
  stores: StoragePorts,
  project: Project,
  wanted: WantedDomain = {},
): Promise<CustomDomain> => {
  const { id } = await addTo(stores, project, wanted);
  await stores.domains.change(id, prepare);
  const { state } = await stores.domains.change(id, goLive);
  await takeEvents(stores);
  return state;
};

export const record = async (
  { domains }: Pick<StoragePorts, 'domains'>,
  id: string,
  cause: TimelineEntry,
): Promise<void> => {
  await domains.change(id, (domain) => ({ ...unchanged(domain), cause }));
};

export const routesIn = async (
  { edgeRecords }: Pick<StoragePorts, 'edgeRecords'>,
  { id }: Project,
): Promise<ReadonlyMap<string, Route>> => {
  const { routes } = await edgeRecords.changesSince(0n);
  return new Map(routes.filter((one) => one.projectId === id).map((route) => [route.name, route]));
};
