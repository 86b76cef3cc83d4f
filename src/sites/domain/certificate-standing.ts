import type { Attempts } from './certificate-attempts.ts';
import type { AuthorityFailure, AuthorityFailureReason } from './certificate-order.ts';
import { dnsProblem, type DnsProblem, type DnsProblemCode } from './dns-problem.ts';

/** How a domain stands with its certificate. */
export interface CertificateStanding {
  /** `issued` as long as there is one, also while the next one is ordered. */
  readonly status: 'none' | 'issuing' | 'issued' | 'failed';
  /** Since the domain was verified, the owner asked again, or the last one was issued. */
  readonly attempts: Attempts | undefined;
  /** When work on it goes on: an attempt, a look at the order, or the renewal. */
  readonly nextAttemptAt: Date | undefined;
  /** There is no next attempt before the DNS is in order. */
  readonly waitsForDns: boolean;
  /** The owner asked for the next attempt. */
  readonly isManual: boolean;
  /** The authority wants to hear nothing before that. */
  readonly retryAt: Date | undefined;
  readonly problem: DnsProblem | undefined;
  readonly notBefore: Date | undefined;
  readonly notAfter: Date | undefined;
  /** The one that is under way: it is continued, whatever happens, and no other begun beside it. */
  readonly order: { readonly url: string | undefined } | undefined;
}

export const noCertificate: CertificateStanding = {
  status: 'none',
  attempts: undefined,
  nextAttemptAt: undefined,
  waitsForDns: false,
  isManual: false,
  retryAt: undefined,
  problem: undefined,
  notBefore: undefined,
  notAfter: undefined,
  order: undefined,
};

/** A first or a fresh attempt, as soon as somebody gets to it. */
export const orderAtOnce = (now: Date): CertificateStanding => ({
  ...noCertificate,
  status: 'issuing',
  nextAttemptAt: now,
});

export const latest = (...dates: readonly (Date | undefined)[]): Date =>
  new Date(Math.max(...dates.map((date) => date?.getTime() ?? 0)));

const codes: Readonly<Record<AuthorityFailureReason, DnsProblemCode>> = {
  order_gone: 'ca_unavailable',
  rate_limited: 'ca_rate_limited',
  unavailable: 'ca_unavailable',
  rejected_name: 'ca_rejected_name',
  caa: 'caa_forbids_issuer',
  dns: 'dns_lookup_failed',
  challenge: 'challenge_unreachable',
};

/** What the owner is told when the authority did not issue. */
export const problemOf = ({ reason, detail }: AuthorityFailure, host: string): DnsProblem =>
  dnsProblem(codes[reason], { seen: detail, wanted: `a certificate for ${host}` });

/** After these the order is still good, and asking again for the same one costs nothing. */
export const keepsOrder = (reason: AuthorityFailureReason): boolean =>
  reason === 'unavailable' || reason === 'rate_limited';
