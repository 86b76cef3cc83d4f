import { allowingLine } from '../dns/caa.ts';
import type { AuthorityFailure, AuthorityFailureReason } from '../certificates/order.ts';
import type { CustomDomain } from './custom-domain.ts';
import { dnsProblem, type DnsProblem, type DnsProblemCode } from '../dns/problem.ts';
import { isAtApex } from '../dns/standing.ts';
import { shownHost } from '../names/hostname.ts';

export interface Refusal {
  readonly failure: AuthorityFailure;
  /** What a CAA record has to name to allow it, one of them; none: CAA does not matter to it. */
  readonly issuers: readonly string[];
}

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
    : dnsProblem(codes[reason], { seen: detail, wanted: `a certificate for ${domain.host}` });

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
  if (isAtApex(domain)) {
    const fix = `${disagreement} Add the record shown at the DNS provider of ${shownHost({ host, unicode })}.`;
    return { wanted: allowingLine(host, issuers), fix };
  }
  // Beside a CNAME there can be no CAA record (RFC 1034, section 3.6.2).
  const parent = host.slice(host.indexOf('.') + 1);
  const fix = `${disagreement} Add the record shown. It belongs to ${parent}: a name with a CNAME cannot have a CAA record.`;
  return { wanted: allowingLine(parent, issuers), fix };
};
