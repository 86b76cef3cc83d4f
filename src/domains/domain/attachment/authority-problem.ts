import { allowingLine } from '../dns/caa.ts';
import type { Refusal } from '../certificates/certificate-work.ts';
import type { AuthorityFailureReason } from '../certificates/order.ts';
import type { CustomDomain } from './custom-domain.ts';
import { workOn } from '../certificates/standing.ts';
import { dnsProblem, type DnsProblem, type DnsProblemCode } from '../dns/problem.ts';
import { delegationNameOf } from '../dns/records.ts';
import { isAtApex } from '../dns/standing.ts';
import { validationMethods } from '../dns/validation.ts';
import { isWildcard } from '../names/wildcard.ts';
import { shownHost } from '../names/hostname.ts';

const codes: Readonly<Record<AuthorityFailureReason, DnsProblemCode>> = {
  order_gone: 'ca_unavailable',
  rate_limited: 'ca_rate_limited',
  unavailable: 'ca_unavailable',
  rejected_name: 'ca_rejected_name',
  caa: 'caa_forbids_issuer',
  dns: 'dns_lookup_failed',
  challenge: 'challenge_unreachable',
};

/** The problem to show the owner when the authority did not issue. */
export const problemOf = (
  { failure: { reason, detail }, issuers }: Refusal,
  domain: CustomDomain,
): DnsProblem =>
  reason === 'caa' && issuers.length > 0
    ? dnsProblem('caa_forbids_issuer', { seen: detail, ...lineToAdd(domain, issuers) })
    : dnsProblem(codes[reason], {
        ...{ seen: detail, wanted: `a certificate for ${domain.host}` },
        ...(isByDns(domain) ? byDns(reason, domain) : {}),
      });

const isByDns = (domain: CustomDomain): boolean => {
  const work = workOn(domain);
  return work?.step === 'ordered' && validationMethods[work.method].needsDelegation;
};

/** What else there is to say where our own name servers answer the challenge. */
const byDns = (
  reason: AuthorityFailureReason,
  { host, dns }: CustomDomain,
): Partial<Pick<DnsProblem, 'actor' | 'fix'>> => {
  if (reason === 'challenge') return { fix: delegationFix(host) };
  if (reason !== 'dns') return {};
  return dns.report?.validation?.delegated
    ? { actor: 'us', fix: oursFix(host) }
    : { fix: delegationFix(host) };
};

const oursFix = (host: string): string =>
  `The certificate authority could not look up where ${delegationNameOf(host)} leads: to our own name servers. Our resolvers found ` +
  'your record, so there is nothing for you to do. We look after it and try again automatically.';

const delegationFix = (host: string): string =>
  `The certificate authority did not find our answer where ${delegationNameOf(host)} leads. Check that this name has the ` +
  'CNAME record shown and no other record, at all of your name servers.';

/** We check CAA before each order, so our own resolvers saw no record that forbids it. */
const disagreement =
  'The certificate authority found a CAA record that forbids the certificate, but our own resolvers found none. ' +
  'It may have changed recently, or the name servers of the domain give different answers.';

/** The records of the lowest level that has any decide (RFC 8659, section 3), so none above can forbid it then. */
const lineToAdd = (
  domain: CustomDomain,
  issuers: readonly string[],
): Pick<DnsProblem, 'wanted' | 'fix'> => {
  const { host, unicodeHost: unicode } = domain;
  const policy = { issuers, isWildcard: isWildcard(host) };
  if (isAtApex(domain)) {
    const fix = `${disagreement} Add the record shown at the DNS provider of ${shownHost({ host, unicode })}.`;
    return { wanted: allowingLine(host, policy), fix };
  }
  // Beside a CNAME there can be no CAA record (RFC 1034, section 3.6.2).
  const parent = host.slice(host.indexOf('.') + 1);
  const why = policy.isWildcard ? '' : ': a name with a CNAME cannot have a CAA record';
  const fix = `${disagreement} Add the record shown. It belongs to ${parent}${why}.`;
  return { wanted: allowingLine(parent, policy), fix };
};
