import type { CaUse, Times, LedgerChange, LedgerName } from './domain/certificates/ca-budget.ts';
import type { Certificate, Validity, RenewalSpan } from './domain/certificates/renewal.ts';
import type {
  AuthorityFailure,
  CertificateOrder,
  OrderState,
} from './domain/certificates/certificate-status.ts';
import type { OwnChange, OwnName } from './domain/own/own-name.ts';

export abstract class Certificates {
  /**
   * Replaces the previous one. Edges load it within a second. Its private key is encrypted at rest.
   * @param endsOrder subject of the order that brought it, which is forgotten in the same step
   */
  abstract save(certificate: Certificate, endsOrder?: string): Promise<void>;

  /** The certificates of a host as they are public; undefined when there is none. */
  abstract find(host: string): Promise<{ readonly chain: string } | undefined>;

  abstract validities(): Promise<ReadonlyMap<string, Validity>>;
}

/** A window in which the authority wants a certificate renewed (RFC 9773). */
export interface RenewalWindow extends RenewalSpan {
  readonly askAgainAt: Date;
}

export type OrderAnswer =
  | {
      readonly kind: 'ordered';
      readonly url: string;
      /** A renewal that the authority counts against none of its limits. */
      readonly isExempt: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly failure: AuthorityFailure;
      /** The authority may have made an order all the same, or may count that it was asked. */
      readonly counts: boolean;
    }
  /** It does not accept what the order replaces, and made none. Without that it may make one, which counts. */
  | { readonly kind: 'not_exempt' };

/**
 * Issues certificates for a host, ECDSA P-256. Each call is one bounded step that can be repeated; nothing waits
 * inside, and every outside failure is a `failed` answer. Never throws.
 */
export abstract class CertificateAuthority {
  /** The host of its directory, or `local`; no two have the same. */
  abstract readonly name: string;

  /**
   * The names that CAA records may use for it, in lower case; empty if it has none. Undefined while it has not been reached
   * since the start.
   */
  abstract issuers(): Promise<readonly string[] | undefined>;

  /** The account as CAA's `accounturi` names it; undefined until there is one. */
  abstract accountUri(): Promise<string | undefined>;

  /** A new private key, PKCS #8 PEM. */
  abstract newPrivateKey(): Promise<string>;

  /**
   * Asks for a new order.
   * @param replaces chain of the certificate that this one renews (RFC 9773, section 5)
   * @param also further names of the same certificate
   */
  abstract order(host: string, replaces?: string, also?: readonly string[]): Promise<OrderAnswer>;

  /** The state of the order. An `issued` certificate was checked: names, key, chain and dates are right. */
  abstract look(order: CertificateOrder): Promise<OrderState>;

  /** Says that the answer to the challenge is published. Saying it twice is no error. */
  abstract prove(order: CertificateOrder, challengeUrl: string): Promise<OrderState>;

  /** Sends the certificate request of a `ready` order. Doing it twice gives the same certificate. */
  abstract finalize(order: CertificateOrder): Promise<OrderState>;

  /** @returns undefined where the authority offers none */
  abstract renewalWindow(chain: string): Promise<RenewalWindow | 'silent' | undefined>;
}

/** Our account at one authority (RFC 8555, section 7.1.2). */
export interface AuthorityAccount {
  readonly url: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

/** One account at each authority, which all processes share. Its private key is encrypted at rest. */
export abstract class AuthorityAccounts {
  /** @throws Unavailable */
  abstract find(directoryUrl: string): Promise<AuthorityAccount | undefined>;

  /**
   * The first writer wins: if an account is stored already, nothing changes and `find` returns that one.
   * @param lostUrl url of the kept account, if the authority forgot it: only that one is replaced
   * @throws Unavailable
   */
  abstract save(directoryUrl: string, account: AuthorityAccount, lostUrl?: string): Promise<void>;
}

export interface KeptOrder {
  /** Name of the authority that is asked. */
  readonly authority: string;
  /** What it is for; see `OrderSubject`. */
  readonly subject: string;
  readonly host: string;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** Undefined until the authority has taken it. */
  readonly url: string | undefined;
}

export interface PlacedOrder extends KeptOrder {
  readonly url: string;
}

export interface Challenge {
  readonly token: string;
  readonly keyAuthorization: string;
}

/** Orders, from before the authority is asked until the certificate is stored. Private keys are encrypted at rest. */
export abstract class CertificateOrders {
  abstract find(subject: string): Promise<KeptOrder | undefined>;

  /**
   * The first writer wins. A removed domain gets none, because nothing would ever delete it.
   * @returns the stored order, which may be another worker's; undefined when the domain is removed
   */
  abstract begin(order: Omit<KeptOrder, 'url'>): Promise<KeptOrder | undefined>;

  /**
   * The authority has taken it. The first writer wins.
   * @param ledger the ledger change to store in the same step
   * @throws Error when the order was forgotten meanwhile
   */
  abstract placed(subject: string, url: string, ledger?: LedgerChange): Promise<PlacedOrder>;

  /** From now on every edge answers the challenge. @throws Error when the order was forgotten meanwhile */
  abstract publish(subject: string, challenge: Challenge): Promise<void>;

  /**
   * Also deletes its challenge and key. Forgetting twice is no error.
   * @param ledger the outcome, stored in the same step
   */
  abstract forget(subject: string, ledger?: LedgerChange): Promise<void>;

  /**
   * What an edge answers under `/.well-known/acme-challenge/<token>` for a host (RFC 8555, section 8.3).
   * @throws Unavailable
   */
  abstract answer(host: string, token: string): Promise<string | undefined>;
}

/** A value that proves control of a name by DNS-01 (RFC 8555, section 8.4). */
export interface DnsChallenge {
  /** The name in our zone: one label in lower case, the token of an attachment. */
  readonly label: string;
  readonly value: string;
  /** Not answered from then on, even if nobody forgets its order. */
  readonly expiresAt: Date;
}

/** What our name servers answer. `CertificateOrders` deletes the values of an order with the order. */
export abstract class DnsChallenges {
  /**
   * From now on every name server answers it, beside other values of that label. Publishing it again only moves its
   * end.
   * @throws Error when the order was forgotten meanwhile
   */
  abstract publish(subject: string, challenge: DnsChallenge): Promise<void>;

  /**
   * The values by label, each once, in their order as text. Labels without values are left out.
   * @throws Unavailable
   */
  abstract valuesFor(
    labels: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[]>>;
}

/**
 * Our count of the rate limits of each authority, over all processes. `CustomDomains` and `OwnNames` make the
 * entries of orders, together with what they are for.
 */
export abstract class AuthorityLedger {
  /** What is used of each budget at that moment. */
  abstract use(name: LedgerName, now: Date): Promise<CaUse>;

  /** At one authority, of all accounts, as `CaUse` has them. */
  abstract orders(authority: string, now: Date): Promise<Times>;

  abstract settle(change: LedgerChange): Promise<void>;
}

/**
 * The platform's own names that got a certificate, or asked for one. Every change stores the ledger, the certificate and
 * the end of the order in the same step, or nothing at all.
 */
export abstract class OwnNames {
  abstract all(): Promise<readonly OwnName[]>;

  abstract find(host: string): Promise<OwnName | undefined>;

  /**
   * Locks the name, decides and saves.
   * @param decide synchronous; gets undefined for a name that is not stored yet
   */
  abstract change<Change extends OwnChange>(
    host: string,
    decide: (name: OwnName | undefined) => Change,
  ): Promise<Change>;

  /** As `change`; `decide` also receives the current use. Counting and deciding are one step. */
  abstract changeCounted<Change extends OwnChange>(
    name: LedgerName,
    now: Date,
    decide: (name: OwnName | undefined, use: CaUse) => Change,
  ): Promise<Change>;

  /**
   * Locks the name, and deletes it with its order and its certificate if it is over. Edges no longer serve the certificate.
   * @param isOver synchronous
   * @returns whether it was over; false for a name that is not stored
   */
  abstract forget(host: string, now: Date, isOver: (name: OwnName) => boolean): Promise<boolean>;
}
