import type { Certificate } from './certificate.ts';

/** What must be stored before the authority is asked, so that the order can always be continued. */
export interface CertificateOrder {
  readonly host: string;
  readonly url: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

/** The state of an order, as the authority reports it. */
export type OrderState =
  /** Publish `keyAuthorization` under `/.well-known/acme-challenge/<token>`, then say so with `prove`. */
  | {
      readonly kind: 'challenge';
      readonly token: string;
      readonly keyAuthorization: string;
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

export type AuthorityFailureReason =
  /** The order cannot be continued: it expired, is unknown, or belongs to another account. */
  | 'order_gone'
  | 'rate_limited'
  /** Down, silent, failing, or its answer is malformed. */
  | 'unavailable'
  /** It will never issue for this name. */
  | 'rejected_name'
  | 'caa'
  /** Its resolvers could not find the host, or failed. */
  | 'dns'
  /** It could not reach the host, or got another answer than wanted. */
  | 'challenge';
