import * as v from 'valibot';
import {
  isProblemCode,
  responsibles,
  severities,
  type DnsProblem,
  type DnsProblemCode,
} from '../../../domains/domain/dns/problem.ts';
import type {
  Attempts,
  AuthorityTurn,
  WantedWork,
  IssuedCertificate,
  NoCertificate,
  WantedCertificate,
} from '../../../domains/domain/certificates/certificate-status.ts';
import {
  pauses,
  removalReasons,
  type CustomDomainState,
  type DomainIn,
  type Astray,
  type FailingCertificate,
  type Episodes,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { DnsZone } from '../../../domains/domain/dns/facts.ts';
import type { DnsReport, ResolverSummary } from '../../../domains/domain/dns/report.ts';
import type { DnsStatus } from '../../../domains/domain/dns/judgement.ts';
import { methodNames, type Validation } from '../../../domains/domain/dns/validation.ts';
import { perhaps, date, type Entries } from '../table.ts';

/** Reads codes of newer versions as failed lookups. */
const code = v.pipe(
  v.string(),
  v.transform((stored): DnsProblemCode => (isProblemCode(stored) ? stored : 'dns_lookup_failed')),
);

const problem = v.object({
  code,
  severity: v.picklist(severities),
  actor: v.picklist(responsibles),
  fix: v.string(),
  seen: v.string(),
  wanted: v.string(),
  resolver: perhaps(v.string()),
} satisfies Entries<DnsProblem>);

// A new field or kind of certificate does not compile until it is read here.

/** Fields that queries search or sort by. */
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

const resolver = v.object({
  resolver: v.string(),
  tookMs: v.number(),
  seen: v.string(),
  ttl: perhaps(v.number()),
  agrees: v.boolean(),
} satisfies Entries<ResolverSummary>);

const method = v.picklist(methodNames);

const report = v.object({
  checkedAt: date,
  probe: perhaps(v.string()),
  problems: v.array(problem),
  resolvers: v.array(resolver),
  isApex: v.boolean(),
  ownershipRequired: v.boolean(),
  ownershipProven: v.boolean(),
  textSeen: perhaps(v.boolean()),
  validation: perhaps(
    v.object({
      delegated: v.boolean(),
      method,
      label: perhaps(v.string()),
      exceptions: perhaps(v.record(v.string(), method)),
      onlyByDns: perhaps(v.array(v.string())),
    } satisfies Entries<Validation>),
  ),
  challengeZone: perhaps(v.string()),
  zone: perhaps(
    v.object({
      name: v.string(),
      nameServers: v.array(v.string()),
    } satisfies Entries<DnsZone>),
  ),
  pointsHere: v.boolean(),
  mayIssue: v.array(v.string()),
  verifiable: v.boolean(),
} satisfies Entries<DnsReport>);

const dns = v.object({
  report: perhaps(report),
  lastCheckedAt: perhaps(date),
  nextCheckAt: perhaps(date),
  lastVerifyAskedAt: perhaps(date),
  preparedUntil: perhaps(date),
} satisfies Entries<DnsStatus>);

const turn = v.object({
  awaySince: perhaps(date),
  retryAt: perhaps(date),
} satisfies Entries<AuthorityTurn>);

const attempts = v.object({
  failed: v.number(),
  firstAt: date,
  lastAt: date,
  isManual: v.boolean(),
  retryAt: perhaps(date),
  turns: v.record(v.string(), turn),
  lastBy: perhaps(v.string()),
  unproven: perhaps(method),
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
    authority: v.string(),
    method,
    since: date,
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
  readonly [Step in WantedWork['step']]: {
    readonly entries: Entries<Extract<WantedWork, { readonly step: Step }>>;
  };
};
const { waits_for_owner, ...ofRenewal } = steps;
const renewal = v.variant('step', Object.values(ofRenewal));
const work = v.variant('step', [...Object.values(ofRenewal), waits_for_owner]);

const none = v.object({ kind: v.literal('none') } satisfies Entries<NoCertificate>);
export const wanted = v.object({
  kind: v.literal('wanted'),
  work,
} satisfies Entries<WantedCertificate>);
export const issued = v.object({
  kind: v.literal('issued'),
  notBefore: date,
  notAfter: date,
  work: renewal,
  askRenewalAt: perhaps(date),
  issuedBy: v.string(),
  hasWindow: v.boolean(),
} satisfies Entries<IssuedCertificate>);

const episodes = v.object({
  astray: perhaps(v.object({ since: date, isTold: v.boolean() } satisfies Entries<Astray>)),
  failing: perhaps(
    v.object({ toldAt: date, notBefore: perhaps(date) } satisfies Entries<FailingCertificate>),
  ),
} satisfies Entries<Episodes>);

const shared = {
  registrableDomain: v.string(),
  isApex: v.boolean(),
  dns,
  episodes,
  pause: perhaps(v.picklist(pauses)),
};

export const storedDetails = {
  added: v.object({ ...shared, certificate: v.variant('kind', [none, wanted, issued]) }),
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
