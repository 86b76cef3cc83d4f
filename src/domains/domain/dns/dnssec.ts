import type { ExtendedError, ResolverFacts } from './facts.ts';
import type { Finding } from './findings.ts';
import { dnsProblem } from './problem.ts';

/**
 * Whether the name passes DNSSEC at one resolver. Undefined where that resolver cannot tell, because it does not
 * validate.
 */
export const judgeDnssec = (facts: ResolverFacts): Finding | undefined => {
  const { resolver, cname, unchecked } = facts;
  const heard = { resolver, ttl: undefined };
  if (unchecked && isBroken(unchecked.errors)) {
    const told = unchecked.errors.map(inWords).join('; ') || 'no extended error';
    const seen = `${resolver}: SERVFAIL for ${unchecked.question}, but an answer with checking disabled; ${told}`;
    const problems = [dnsProblem('dnssec_bogus', { seen, wanted })];
    return { ...heard, kind: 'wrong', seen: 'an answer that fails DNSSEC', problems };
  }
  if (cname.kind === 'failed') return { ...heard, kind: 'failed', seen: `DNSSEC: ${cname.reason}` };
  return mayValidate(facts) ? { ...heard, kind: 'right', seen: 'passes DNSSEC' } : undefined;
};

const wanted = 'answers that pass DNSSEC validation, or no DS record at the parent zone';

/** One that does not even validate the answer about the top-level domain does not validate. */
const mayValidate = ({ caa }: ResolverFacts): boolean =>
  caa.some(({ answer }) => answer.kind !== 'failed' && answer.isAuthentic === true) ||
  caa.at(-1)?.name.includes('.') === true;

/** The extended errors that have other causes than DNSSEC; a zone that another question reaches may only be slow. */
const otherCauses: readonly number[] = [14, 15, 16, 17, 18, 20, 21, 22, 23];

/** The failure comes from a cache: beside it stands what caused it, or nothing. */
const cachedError = 13;

const isBroken = (errors: readonly ExtendedError[]): boolean => {
  const causes = errors.filter(({ code }) => code !== cachedError);
  return causes.length === 0 || causes.some(({ code }) => !otherCauses.includes(code));
};

/** The registry of RFC 8914, section 5.2, as far as it concerns DNSSEC. */
const names: Readonly<Record<number, string>> = {
  0: 'Other Error',
  1: 'Unsupported DNSKEY Algorithm',
  2: 'Unsupported DS Digest Type',
  5: 'DNSSEC Indeterminate',
  6: 'DNSSEC Bogus',
  7: 'Signature Expired',
  8: 'Signature Not Yet Valid',
  9: 'DNSKEY Missing',
  10: 'RRSIGs Missing',
  11: 'No Zone Key Bit Set',
  12: 'NSEC Missing',
  13: 'Cached Error',
  22: 'No Reachable Authority',
  23: 'Network Error',
  25: 'Signature Expired before Valid',
  27: 'Unsupported NSEC3 Iterations Value',
};

const inWords = ({ code, text }: ExtendedError): string => {
  const name = names[code];
  const said = text === '' ? '' : `: ${JSON.stringify(text)}`;
  return `extended error ${code}${name ? ` (${name})` : ''}${said}`;
};
