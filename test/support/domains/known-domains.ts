import { domainAfter, workOf } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import type { DomainChange } from '../../../src/domains/domain/attachment/timeline-entries.ts';
import type { CaUse } from '../../../src/domains/domain/certificates/ca-budget.ts';
import {
  claimOrder,
  type CertificateWork,
} from '../../../src/domains/domain/certificates/certificate-work.ts';
import type { Validity } from '../../../src/domains/domain/certificates/renewal.ts';
import {
  settleOrder,
  type OrderResult,
} from '../../../src/domains/domain/certificates/settle-order.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import {
  addDomain,
  removeDomain,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblem, type DnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import { presentCertificate } from '../../../src/app/commands/present-domain.ts';
import {
  planned,
  type WantedWork,
  type RenewalWork,
  type AuthorityFailure,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { DnsReport } from '../../../src/domains/domain/dns/report.ts';
import type { Allowance } from '../../../src/sites/domain/project.ts';
import { fixedTime } from '../settable-clock.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export const start = fixedTime('2026-03-01T10:00:00Z');
export const after = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
export const moment = (now: Date) => ({ now, jitter: 0 });

export const allowance: Allowance = {
  plan: 'Pro',
  projects: 1000,
  storedBytes: 2 ** 50,
  domains: 5,
  domainsAddedPerHour: 1000,
  hasWildcards: true,
};

export const admitted = {
  allowance,
  current: 0,
  addedLately: [],
  hasSucceededDeploy: true,
  provenElsewhere: undefined,
  attachedTo: undefined,
};

export const draft = {
  id: 'dom_1',
  accountId: 'acct_1',
  projectId: 'proj_1',
  token: 't1',
  hostname: {
    host: 'shop.example.com',
    unicode: 'shop.example.com',
    registrableDomain: 'example.com',
    labels: 'shop',
    isApex: false,
  },
};

export const report = (checkedAt: Date, known: Partial<DnsReport> = {}): DnsReport => ({
  checkedAt,
  problems: [],
  resolvers: [],
  isApex: false,
  ownershipRequired: false,
  ownershipProven: false,
  pointsHere: true,
  mayIssue: [],
  verifiable: true,
  ...known,
});

export const missing = dnsProblem('cname_missing', {
  seen: 'no CNAME',
  wanted: 'CNAME t1.sites.test',
});
export const badReport = (checkedAt: Date): DnsReport =>
  report(checkedAt, { problems: [missing], pointsHere: false, verifiable: false });

export const failure = (reason: AuthorityFailure['reason'], retryAt?: Date): AuthorityFailure => ({
  reason,
  detail: 'says the authority',
  retryAt,
});

export const validity = { notBefore: start, notAfter: after(90 * day) };

export const unused: CaUse = {
  automaticFailures: [],
  manualFailures: [],
  orders: [],
  accountOrders: [],
  registeredDomain: [],
  exactName: [],
  ownHosts: [],
};

/** The work on the domain's certificate, even if it has none or is removed. */
const workFor = (domain: CustomDomain): CertificateWork =>
  workOf({ ...domain, state: 'added', certificate: { kind: 'wanted', work: planned(start) } })!;

export const begin = (
  domain: CustomDomain,
  now: Date,
  authority = 'authority.test',
): DomainChange => {
  const known = workOf(domain) ?? workFor(domain);
  const claim = { known, authority, kind: 'new', use: unused } as const;
  return domainAfter(domain, claimOrder(workOf(domain), claim, now), now);
};

/** @param order the domain when its order began */
export const settle = (
  domain: CustomDomain,
  result: OrderResult,
  { now, order = domain, issuers = [] }: Settling,
): DomainChange => {
  const settled = { ordered: workOf(order) ?? workFor(order), result, issuers };
  return domainAfter(domain, settleOrder(workOf(domain), settled, now), now);
};

interface Settling {
  readonly now: Date;
  readonly order?: CustomDomain;
  readonly issuers?: readonly string[];
}

export const bring = (
  domain: CustomDomain,
  now: Date,
  { order = domain, notBefore, notAfter }: Partial<Validity> & Pick<Settling, 'order'> = {},
): DomainChange => {
  const { host } = domain;
  const its = {
    notBefore: notBefore ?? validity.notBefore,
    notAfter: notAfter ?? validity.notAfter,
  };
  const certificate = { host, chain: '', privateKey: '', ...its };
  return settle(domain, { kind: 'issued', certificate }, { now, order });
};

export const fail = (
  domain: CustomDomain,
  reason: AuthorityFailure['reason'],
  now: Date,
  { retryAt, ...its }: { readonly retryAt?: Date | undefined } & Omit<Settling, 'now'> = {},
): DomainChange =>
  settle(domain, { kind: 'failed', failure: failure(reason, retryAt) }, { now, ...its });

/** One domain in each state of its life, with a minute between steps. */
export const added = addDomain(draft, admitted, moment(start)).state;
export const verified = recordCheck(added, report(after(minute)), moment(after(minute))).state;
export const ordered = begin(verified, after(2 * minute)).state;
export const live = bring(ordered, after(3 * minute)).state;
export const removed = removeDomain(live, 'owner', after(4 * minute)).state;

interface ShownCertificate {
  readonly status: string;
  readonly isManual: boolean;
  readonly isOrdered: boolean;
  readonly waitsForDns: boolean;
  readonly nextAttemptAt?: Date | undefined;
  readonly retryAt?: Date | undefined;
  readonly problem?: DnsProblem | undefined;
  readonly notAfter?: Date;
  readonly askRenewalAt?: Date | undefined;
}

/** All facts of the domain's certificate in one object, as its owner sees it. */
export const certificateOf = ({
  certificate,
}: Pick<CustomDomain, 'certificate'>): ShownCertificate => presentCertificate(certificate);

/** The domain with every kind of certificate work that its state can have. */
export const withEveryWork = (domain: CustomDomain, problem = missing): readonly CustomDomain[] => {
  const attempts = {
    failed: 3,
    firstAt: after(8),
    lastAt: after(9),
    isManual: true,
    retryAt: after(11),
    lastBy: 'authority.test',
    unproven: 'dns-01' as const,
    turns: { 'authority.test': { awaySince: after(8), retryAt: after(11) } },
  };
  const at = after(10);
  const order = {
    step: 'ordered',
    authority: 'authority.test',
    method: 'dns-01',
    since: after(7),
  } as const;
  const renewals: readonly RenewalWork[] = [
    { step: 'planned', at, attempts: undefined, problem: undefined },
    { step: 'planned', at, attempts, problem },
    { ...order, at, attempts, problem: undefined },
    { ...order, method: 'http-01', at, attempts, problem },
    { step: 'waits_for_dns', attempts: undefined, problem },
    { step: 'waits_for_dns', attempts, problem },
  ];
  const works: readonly WantedWork[] = [
    ...renewals,
    { step: 'waits_for_owner', attempts, problem },
  ];
  const issued = {
    kind: 'issued' as const,
    ...validity,
    askRenewalAt: after(12),
    hasWindow: true,
    issuedBy: 'authority.test',
  };
  switch (domain.state) {
    case 'added':
      return [
        domain,
        ...works.map((work) => ({ ...domain, certificate: { kind: 'wanted' as const, work } })),
        ...renewals.map((work) => ({ ...domain, certificate: { ...issued, work } })),
      ];
    case 'removed':
      return [domain];
    case 'verified':
      return works.map((work) => ({ ...domain, certificate: { kind: 'wanted', work } }));
    case 'live':
      return renewals.map((work) => ({ ...domain, certificate: { ...issued, work } }));
  }
};

export const inEachState: readonly CustomDomain[] = [added, verified, live, removed];
