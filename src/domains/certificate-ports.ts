import type { CaUse, Times, LedgerChange, LedgerName } from './domain/certificates/ca-budget.ts';
import type { RenewalSpan } from './domain/certificates/renewal.ts';
import type {
  AuthorityFailure,
  CertificateOrder,
  OrderState,
} from './domain/certificates/certificate-status.ts';
import type { OwnChange, OwnName } from './domain/own/own-name.ts';

/** Written by `CustomDomains` and `OwnNames`. Private keys are encrypted at rest. */
export abstract class Certificates {
  /** The public part of a host's certificate; undefined if there is none. */
  abstract find(host: string): Promise<{ readonly chain: string } | undefined>;
}

export interface RenewalWindow extends RenewalSpan {
  readonly askAgainAt: Date;
}

export type OrderAnswer =
  | {
      readonly kind: 'ordered';
      readonly url: string;
      readonly isExempt: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly failure: AuthorityFailure;
      /** The authority may have created the order, or may count the request. */
      readonly counts: boolean;
    }
  /** The authority refuses `replaces` and created no order. An order without it may count. */
  | { readonly kind: 'not_exempt' };

/** Issues ECDSA P-256 certificates in short, repeatable steps. Outside failures are answers. Never throws. */
export abstract class CertificateAuthority {
  /** The host of its directory, or `local`. Unique. */
  abstract readonly name: string;

  /**
   * The authority's names in CAA records, in lower case; empty if it ignores CAA. Undefined until it was reached once.
   */
  abstract issuers(): Promise<readonly string[] | undefined>;

  /** The account for CAA's `accounturi`; undefined until it exists. */
  abstract accountUri(): Promise<string | undefined>;

  abstract newPrivateKey(): Promise<string>;

  /** @param replaces chain to renew (RFC 9773, section 5) @param also further names of the certificate */
  abstract order(host: string, replaces?: string, also?: readonly string[]): Promise<OrderAnswer>;

  /** An `issued` certificate was checked: its names, key, chain and dates are right. */
  abstract look(order: CertificateOrder): Promise<OrderState>;

  /** Tells the authority that the answer to the challenge is published. May be repeated. */
  abstract prove(order: CertificateOrder, challengeUrl: string): Promise<OrderState>;

  /** Sends the certificate request of a `ready` order. A repetition gives the same certificate. */
  abstract finalize(order: CertificateOrder): Promise<OrderState>;

  /** @returns undefined if the authority offers no window */
  abstract renewalWindow(chain: string): Promise<RenewalWindow | 'silent' | undefined>;
}

export interface AuthorityAccount {
  readonly url: string;
  readonly privateKey: string;
}

/** One account per authority, shared by all processes. The private key is encrypted at rest. */
export abstract class AuthorityAccounts {
  abstract find(directoryUrl: string): Promise<AuthorityAccount | undefined>;

  /** The first writer wins. @param lostUrl of an account that the authority lost, to replace only that @throws Unavailable */
  abstract save(directoryUrl: string, account: AuthorityAccount, lostUrl?: string): Promise<void>;
}

export interface KeptOrder {
  readonly authority: string;
  readonly subject: string;
  readonly host: string;
  readonly privateKey: string;
  readonly url: string | undefined;
}

export interface PlacedOrder extends KeptOrder {
  readonly url: string;
}

export interface Challenge {
  readonly token: string;
  readonly keyAuthorization: string;
}

/** Stored before the authority is asked and until the certificate is stored. Keys are encrypted. */
export abstract class CertificateOrders {
  abstract find(subject: string): Promise<KeptOrder | undefined>;

  /** The first writer wins. @returns the stored order; undefined if the domain is removed */
  abstract begin(order: Omit<KeptOrder, 'url'>): Promise<KeptOrder | undefined>;

  /** The first writer wins. @param ledger stored in the same step @throws Error if the order was deleted */
  abstract placed(subject: string, url: string, ledger?: LedgerChange): Promise<PlacedOrder>;

  /** Makes every edge answer the challenge. @throws Error if the order was deleted meanwhile */
  abstract publish(subject: string, challenge: Challenge): Promise<void>;

  /** Deletes the order, its challenge and its key. May be repeated. @param ledger stored in the same step */
  abstract forget(subject: string, ledger?: LedgerChange): Promise<void>;

  /** The answer to `/.well-known/acme-challenge/<token>` (RFC 8555, section 8.3). @throws Unavailable */
  abstract answer(host: string, token: string): Promise<string | undefined>;
}

export interface DnsChallenge {
  readonly label: string;
  readonly value: string;
  readonly expiresAt: Date;
}

/** The answers of our name servers. `CertificateOrders` deletes them with their order. */
export abstract class DnsChallenges {
  /** Adds a value to a label. A repetition only changes its end. @throws Error if the order was deleted */
  abstract publish(subject: string, challenge: DnsChallenge): Promise<void>;

  /** Distinct values by label, sorted; labels without values are missing. @throws Unavailable */
  abstract valuesFor(
    labels: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[]>>;
}

/** Our use of each authority's limits. `CustomDomains` and `OwnNames` store the entries of their changes. */
export abstract class AuthorityLedger {
  abstract use(name: LedgerName, now: Date): Promise<CaUse>;

  abstract orders(authority: string, now: Date): Promise<Times>;
}

/** The platform's names. A change stores ledger, certificate and the end of the order in one step. */
export abstract class OwnNames {
  abstract all(): Promise<readonly OwnName[]>;

  abstract find(host: string): Promise<OwnName | undefined>;

  /** Locks the name, decides and saves. @param decide synchronous; gets undefined for an unknown name */
  abstract change<Change extends OwnChange>(
    host: string,
    decide: (name: OwnName | undefined) => Change,
  ): Promise<Change>;

  /** Like `change`; `decide` also gets the current use, in the same step. */
  abstract changeCounted<Change extends OwnChange>(
    name: LedgerName,
    now: Date,
    decide: (name: OwnName | undefined, use: CaUse) => Change,
  ): Promise<Change>;

  /** Deletes the name, its order and its certificate. @param isOver synchronous @returns whether it was deleted */
  abstract forget(host: string, now: Date, isOver: (name: OwnName) => boolean): Promise<boolean>;
}
