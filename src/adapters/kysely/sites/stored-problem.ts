import * as v from 'valibot';
import {
  isProblemCode,
  responsibles,
  severities,
  type DnsProblem,
  type DnsProblemCode,
} from '../../../domains/domain/dns/problem.ts';
import { perhaps, type Entries } from '../column.ts';

/**
 * The codes of version 1.0.0. While it serves beside a newer version, it reads no domain with another one, and one such
 * domain stops the work on all that are claimed with it.
 */
const firstCodes: readonly DnsProblemCode[] = [
  ...['dns_not_found', 'cname_missing', 'cname_wrong_target', 'conflicting_a'],
  ...['conflicting_aaaa', 'apex_needs_alias', 'alias_wrong_address', 'ownership_txt_missing'],
  ...['ownership_txt_mismatch', 'caa_forbids_issuer', 'dns_lookup_failed', 'dns_answer_too_large'],
  ...['cname_loop', 'challenge_unreachable', 'propagation_incomplete', 'proxied', 'wildcard_dns'],
  ...['cname_chain', 'ca_rate_limited', 'ca_unavailable', 'ca_rejected_name', 'name_reserved'],
  ...['public_suffix', 'ip_literal', 'wildcard_unsupported', 'name_too_long'],
] as const;

/** What every version understands of a code that it does not know. */
const anyProblem: DnsProblemCode = 'dns_lookup_failed';

/** For JSON.stringify: stores a newer code beside one that version 1.0.0 knows, which it reads instead. */
export const storedField = (_: string, value: unknown): unknown =>
  isProblem(value) && !firstCodes.includes(value.code)
    ? { ...value, code: anyProblem, exactCode: value.code }
    : value;

const isProblem = (value: unknown): value is Pick<DnsProblem, 'code'> =>
  typeof value === 'object' && value !== null && 'code' in value && isProblemCode(value.code);

export const problem = v.pipe(
  v.looseObject({ code: v.string(), exactCode: perhaps(v.string()) }),
  // A version after this one may have stored a code of its own.
  v.transform(({ code, exactCode, ...rest }) => ({
    ...rest,
    code: [exactCode, code].find(isProblemCode) ?? anyProblem,
  })),
  v.object({
    code: v.custom<DnsProblemCode>(isProblemCode),
    severity: v.picklist(severities),
    actor: v.picklist(responsibles),
    fix: v.string(),
    seen: v.string(),
    wanted: v.string(),
    resolver: perhaps(v.string()),
  } satisfies Entries<DnsProblem>),
);
