import * as v from 'valibot';
import type { Attempts } from '../../../domains/domain/certificates/attempts.ts';
import type {
  CertificateWork,
  IssuedCertificate,
  NoCertificate,
  WantedCertificate,
} from '../../../domains/domain/certificates/standing.ts';
import {
  removalReasons,
  type CustomDomainState,
  type DomainIn,
} from '../../../domains/domain/attachment/custom-domain.ts';
import {
  responsibles,
  isProblemCode,
  severities,
  type DnsProblem,
  type DnsProblemCode,
} from '../../../domains/domain/dns/problem.ts';
import type { DnsReport, ResolverSummary } from '../../../domains/domain/dns/report.ts';
import type { DnsStanding } from '../../../domains/domain/dns/standing.ts';
import { perhaps, type Entries } from '../stored-json.ts';

// How the details of a domain are read from JSON. A new field, or a new kind of certificate, does not compile until it
// is read here.

/** The fields that are searched or sorted by. */
export type DomainColumn =
  | 'id'
  | 'accountId'
  | 'projectId'
  | 'host'
  | 'unicodeHost'
  | 'token'
  | 'state'
  | 'generation'
  | 'addedAt';

const date = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
  v.date(),
);

const problem = v.object({
  code: v.custom<DnsProblemCode>(isProblemCode),
  severity: v.picklist(severities),
  actor: v.picklist(responsibles),
  fix: v.string(),
  seen: v.string(),
  wanted: v.string(),
  resolver: perhaps(v.string()),
} satisfies Entries<DnsProblem>);

const resolver = v.object({
  resolver: v.string(),
  tookMs: v.number(),
  seen: v.string(),
  ttl: perhaps(v.number()),
  agrees: v.boolean(),
} satisfies Entries<ResolverSummary>);

const report = v.object({
  checkedAt: date,
  problems: v.array(problem),
  resolvers: v.array(resolver),
  isApex: v.boolean(),
  ownershipRequired: v.boolean(),
  ownershipProven: v.boolean(),
  pointsHere: v.boolean(),
  verifiable: v.boolean(),
} satisfies Entries<DnsReport>);

const dns = v.object({
  report: perhaps(report),
  lastCheckedAt: perhaps(date),
  nextCheckAt: perhaps(date),
  lastVerifyAskedAt: perhaps(date),
} satisfies Entries<DnsStanding>);

const attempts = v.object({
  failed: v.number(),
  firstAt: date,
  lastAt: date,
  isManual: v.boolean(),
  retryAt: perhaps(date),
} satisfies Entries<Attempts>);

const steps = {
  planned: v.object({
    step: v.literal('planned'),
    at: date,
    attempts: perhaps(attempts),
    problem: perhaps(problem),
  }),
  ordered: v.object({
    step: v.literal('ordered'),
    at: date,
    attempts,
    problem: perhaps(problem),
  }),
  waits_for_dns: v.object({
    step: v.literal('waits_for_dns'),
    attempts: perhaps(attempts),
    problem,
  }),
  waits_for_owner: v.object({ step: v.literal('waits_for_owner'), attempts, problem }),
} satisfies {
  readonly [Step in CertificateWork['step']]: {
    readonly entries: Entries<Extract<CertificateWork, { readonly step: Step }>>;
  };
};
const { waits_for_owner, ...ofRenewal } = steps;
const renewal = v.variant('step', Object.values(ofRenewal));
const work = v.variant('step', [...Object.values(ofRenewal), waits_for_owner]);

const none = v.object({ kind: v.literal('none') } satisfies Entries<NoCertificate>);
const wanted = v.object({ kind: v.literal('wanted'), work } satisfies Entries<WantedCertificate>);
const issued = v.object({
  kind: v.literal('issued'),
  notBefore: date,
  notAfter: date,
  work: renewal,
  askRenewalAt: perhaps(date),
} satisfies Entries<IssuedCertificate>);

const shared = { registrableDomain: v.string(), isApex: v.boolean(), dns };

/** For each state, all that has no column of its own. */
export const storedDetails = {
  added: v.object({ ...shared, certificate: none }),
  verified: v.object({ ...shared, verifiedAt: date, certificate: wanted }),
  live: v.object({ ...shared, verifiedAt: date, liveSince: date, certificate: issued }),
  removed: v.object({
    ...shared,
    removedAt: date,
    reason: v.picklist(removalReasons),
    certificate: none,
  }),
} satisfies {
  readonly [State in CustomDomainState]: {
    readonly entries: Omit<Entries<DomainIn<State>>, DomainColumn>;
  };
};
