import type { ValidationMethod } from '../dns/validation.ts';
import type { Certificate } from './certificate.ts';

/** What must be stored before the authority is asked, so that the order can always be continued. */
export interface CertificateOrder {
  readonly host: string;
  /** Further names of the same certificate. */
  readonly also?: readonly string[] | undefined;
  readonly url: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  readonly method: ValidationMethod;
}

/** The state of an order, as the authority reports it. */
export type OrderState =
  /** Publish `keyAuthorization` under `/.well-known/acme-challenge/<token>`, then say so with `prove`. */
  | {
      readonly kind: 'challenge';
      readonly method: 'http-01';
      readonly token: string;
      readonly keyAuthorization: string;
      readonly challengeUrl: string;
    }
  /**
   * Publish all `values` as TXT records where `_acme-challenge.<host>` leads, then say so with `prove`. A name and its
   * wildcard have the same challenge name, with a value each (RFC 8555, section 8.4).
   */
  | {
      readonly kind: 'challenge';
      readonly method: 'dns-01';
      readonly values: readonly string[];
      readonly challengeUrl: string;
    }
  /** The authority works on it; ask again, but not before. */
  | { readonly kind: 'processing'; readonly askAgainAfterMs: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'issued'; readonly certificate: Certificate }
  | { readonly kind: 'failed'; readonly failure: AuthorityFailure };

/** The end of an order, or of a request for one. */
export type OrderEnd =
  | Extract<OrderState, { readonly kind: 'issued' | 'failed' }>
  | {
      readonly kind: 'not_placed';
      readonly failure: AuthorityFailure;
      /** The authority may have made an order all the same, or may count that it was asked. */
      readonly counts: boolean;
    };

/** Why an authority did not do what it was asked (RFC 8555, section 6.7). */
export interface AuthorityFailure {
  readonly reason: AuthorityFailureReason;
  /** In the authority's own words. */
  readonly detail: string;
  /** The authority asked us not to retry before then. */
  readonly retryAt: Date | undefined;
}

export const authorityFailureReasons = [
  /** The order cannot be continued: it expired, is unknown, or belongs to another account. */
  'order_gone',
  'rate_limited',
  /** Down, silent, failing, or its answer is malformed. */
  'unavailable',
  /** It will never issue for this name. */
  'rejected_name',
  'caa',
  /** Its resolvers could not find the host, or failed. */
  'dns',
  /** It could not reach the host, or got another answer than wanted. */
  'challenge',
] as const;
export type AuthorityFailureReason = (typeof authorityFailureReasons)[number];
