import {
  certificateIssued,
  fenceOf,
  orderStarted,
} from '../../../src/domains/domain/attachment/certificate.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { removeDomain } from '../../../src/domains/domain/attachment/removal.ts';
import {
  addDomain,
  type CustomDomain,
} from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import type { DnsReport } from '../../../src/domains/domain/dns/report.ts';
import type { Allowance } from '../../../src/sites/domain/allowance.ts';
import type { AuthorityFailure } from '../../../src/domains/domain/certificates/order.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export const start = new Date('2026-03-01T10:00:00Z');
export const after = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
export const moment = (now: Date) => ({ now, jitter: 0 });

/** Of an account whose orders are not delayed. */
export const allowance: Allowance = {
  plan: 'Pro',
  projects: 1000,
  storedBytes: 2 ** 50,
  domains: 5,
  domainsAddedPerHour: 1000,
};

export const admitted = {
  allowance,
  current: 0,
  addedLately: [],
  hasSucceededDeploy: true,
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

/** Valid for 90 days. */
export const validity = { notBefore: start, notAfter: after(90 * day) };

/** The life of one domain, with a minute between steps. */
export const added = addDomain(draft, admitted, moment(start)).state;
export const verified = recordCheck(added, report(after(minute)), moment(after(minute))).state;
export const ordered = orderStarted(verified, fenceOf(verified), after(2 * minute)).state;
export const live = certificateIssued(
  ordered,
  { ...fenceOf(ordered), ...validity },
  after(3 * minute),
).state;
export const removed = removeDomain(live, 'owner', after(4 * minute)).state;

export const inEachState: readonly CustomDomain[] = [added, verified, live, removed];
