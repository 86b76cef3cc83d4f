// What people are told. The facts of a kind are what its text and its link are made from.

interface OfProject {
  /** Its slug. */
  readonly project: string;
}

interface OfHost extends OfProject {
  /** As A-labels. */
  readonly host: string;
  /** As people read it. */
  readonly name: string;
}

export interface Trouble {
  readonly problem: string;
  readonly actor: Responsible;
  /** What would help, for the one who acts. */
  readonly fix: string;
}

export const responsibles = ['customer', 'us', 'nobody'] as const;
export type Responsible = (typeof responsibles)[number];

interface OfTrouble extends OfHost, Trouble {
  readonly title: string;
}

interface OfQuota {
  readonly used: number;
  readonly limit: number;
  /** ISO 8601. */
  readonly resetsAt: string;
}

interface OfPerson {
  readonly email: string;
}

/** What the owners of an account are told. Times are ISO 8601. */
export interface OwnersFacts {
  'domain.live': OfHost;
  'domain.removed': OfHost;
  'domain.expired': OfHost;
  /**
   * `isTaken`: it was theirs, and is removed. Otherwise it still waits, and needs the `proof` now: the record that
   * proves the name, in words. `wildcard`: that was proven, and covers the name.
   */
  'domain.contested': OfHost & {
    readonly isTaken: boolean;
    readonly proof: string;
    readonly wildcard?: string | undefined;
  };
  'domain.unhealthy': OfTrouble;
  'domain.recovered': OfHost;
  /** Without `expiresAt` it is the first certificate. */
  'certificate.failing': OfTrouble & { readonly expiresAt?: string | undefined };
  'certificate.recovered': OfHost & { readonly expiresAt: string };
  'project.deleted': OfProject & { readonly name: string; readonly until: string };
  'deploy.failed': OfProject & { readonly number: number; readonly explanation: string };
  'key.banned': { readonly keyId: string; readonly name: string; readonly until: string };
  'quota.warning': OfQuota;
  'quota.reached': OfQuota;
  'operation.removal': {
    readonly operation: string;
    readonly removedAt: string;
    readonly days: number;
  };
  'webhook.off': {
    readonly webhookId: string;
    /** The host that we called: the rest of the address may be a secret. */
    readonly receiver: string;
    readonly reason: GivenUpReason;
  };
}

/** Why we no longer call a webhook: it answered 410, or all attempts of five days failed. */
export const givenUpReasons = ['gone', 'failing'] as const;
export type GivenUpReason = (typeof givenUpReasons)[number];

/** What one person is told, only by mail. */
interface PersonFacts {
  'person.invited': OfPerson & OneTimeLink & { readonly until: string; readonly role: string };
  'sign_in.link': OfPerson & {
    /** At least one; one for each account that the address belongs to. */
    readonly links: readonly OneTimeLink[];
    readonly until: string;
    /** They lead to the choice of a new password. */
    readonly isForPassword: boolean;
  };
  'account.deleted': { readonly account: string; readonly until: string };
  'password.changed': OfPerson & { readonly account: string; readonly changedAt: string };
  'second_factor.changed': OfPerson & { readonly account: string; readonly changedAt: string };
}

/** Signs in to an account once. */
interface OneTimeLink {
  readonly account: string;
  /** Below the dashboard, with the secret. */
  readonly path: string;
}

export type KindFacts = OwnersFacts & PersonFacts;

export type OwnersKind = keyof OwnersFacts;
export type PersonalKind = keyof PersonFacts;
export type NotificationKind = keyof KindFacts;

export type Told = {
  [Kind in NotificationKind]: { readonly kind: Kind; readonly about: KindFacts[Kind] };
}[NotificationKind];

export type Notification = Told & {
  /** That of its event: the same at every place and every attempt. */
  readonly id: string;
  readonly accountId: string;
  readonly occurredAt: Date;
  /** The address of the person of the account who did it, who is not told; undefined: all are. */
  readonly by?: string | undefined;
};
