import * as v from 'valibot';

// How version 1.0.0 reads the details of a domain. It serves beside newer versions during an upgrade, so this never changes.

const perhaps = <Output>(schema: v.GenericSchema<unknown, Output>) => v.optional(schema);

const date = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
  v.date(),
);

const codes: readonly string[] = [
  ...['dns_not_found', 'cname_missing', 'cname_wrong_target', 'conflicting_a'],
  ...['conflicting_aaaa', 'apex_needs_alias', 'alias_wrong_address', 'ownership_txt_missing'],
  ...['ownership_txt_mismatch', 'caa_forbids_issuer', 'dns_lookup_failed'],
  ...['dns_answer_too_large', 'cname_loop', 'challenge_unreachable', 'propagation_incomplete'],
  ...['proxied', 'wildcard_dns', 'cname_chain', 'ca_rate_limited', 'ca_unavailable'],
  ...['ca_rejected_name', 'name_reserved', 'public_suffix', 'ip_literal'],
  ...['wildcard_unsupported', 'name_too_long'],
];

const problem = v.object({
  code: v.picklist(codes),
  severity: v.picklist(['blocking', 'warning', 'ours', 'final']),
  actor: v.picklist(['customer', 'us', 'nobody']),
  fix: v.string(),
  seen: v.string(),
  wanted: v.string(),
  resolver: perhaps(v.string()),
});

const report = v.object({
  checkedAt: date,
  problems: v.array(problem),
  resolvers: v.array(
    v.object({
      resolver: v.string(),
      tookMs: v.number(),
      seen: v.string(),
      ttl: perhaps(v.number()),
      agrees: v.boolean(),
    }),
  ),
  isApex: v.boolean(),
  ownershipRequired: v.boolean(),
  ownershipProven: v.boolean(),
  pointsHere: v.boolean(),
  verifiable: v.boolean(),
});

const dns = v.object({
  report: perhaps(report),
  lastCheckedAt: perhaps(date),
  nextCheckAt: perhaps(date),
  lastVerifyAskedAt: perhaps(date),
});

const attempts = v.object({
  failed: v.number(),
  firstAt: date,
  lastAt: date,
  isManual: v.boolean(),
  retryAt: perhaps(date),
});

const renewals = [
  v.object({
    step: v.literal('planned'),
    at: date,
    attempts: perhaps(attempts),
    problem: perhaps(problem),
  }),
  v.object({ step: v.literal('ordered'), at: date, attempts, problem: perhaps(problem) }),
  v.object({ step: v.literal('waits_for_dns'), attempts: perhaps(attempts), problem }),
] as const;
const work = v.variant('step', [
  ...renewals,
  v.object({ step: v.literal('waits_for_owner'), attempts, problem }),
]);

const none = v.object({ kind: v.literal('none') });
const wanted = v.object({ kind: v.literal('wanted'), work });
const issued = v.object({
  kind: v.literal('issued'),
  notBefore: date,
  notAfter: date,
  work: v.variant('step', renewals),
  askRenewalAt: perhaps(date),
});

const shared = { registrableDomain: v.string(), isApex: v.boolean(), dns };

export const firstDetails = {
  added: v.object({ ...shared, certificate: none }),
  verified: v.object({ ...shared, verifiedAt: date, certificate: wanted }),
  live: v.object({ ...shared, verifiedAt: date, liveSince: date, certificate: issued }),
  removed: v.object({
    ...shared,
    removedAt: date,
    reason: v.picklist(['owner', 'contested', 'expired']),
    certificate: none,
  }),
};
