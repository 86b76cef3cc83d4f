interface OfProject {
  readonly project: string;
}

interface OfHost extends OfProject {
  readonly host: string;
  readonly name: string;
}

export interface Trouble {
  readonly problem: string;
  readonly actor: Responsible;
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
  readonly resetsAt: string;
}

interface OfPerson {
  readonly email: string;
}

/** Notifications for the owners of an account. Times are ISO 8601. */
export interface OwnersFacts {
  'domain.live': OfHost;
  'domain.removed': OfHost;
  'domain.expired': OfHost;
  /**
   * `isTaken`: the account lost the name and its domain was removed. Otherwise the domain waits and needs `proof`,
   * the DNS record in words. `wildcard`: the proven name that covers it.
   */
  'domain.contested': OfHost & {
    readonly isTaken: boolean;
    readonly proof: string;
    readonly wildcard?: string | undefined;
  };
  'domain.unhealthy': OfTrouble;
  'domain.recovered': OfHost;
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
    /** The host only, because the rest of the address may be secret. */
    readonly receiver: string;
    readonly reason: GivenUpReason;
  };
}

/** `gone`: the receiver answered 410. `failing`: all attempts failed for five days. */
export const givenUpReasons = ['gone', 'failing'] as const;
type GivenUpReason = (typeof givenUpReasons)[number];

interface PersonFacts {
  'person.invited': OfPerson & OneTimeLink & { readonly until: string; readonly role: string };
  'sign_in.link': OfPerson & {
    readonly links: readonly OneTimeLink[];
    readonly until: string;
    readonly isForPassword: boolean;
  };
  'account.deleted': { readonly account: string; readonly until: string };
  'password.changed': OfPerson & { readonly account: string; readonly changedAt: string };
  'second_factor.changed': OfPerson & { readonly account: string; readonly changedAt: string };
}

interface OneTimeLink {
  readonly account: string;
  readonly path: string;
}

export type KindFacts = OwnersFacts & PersonFacts;

export type OwnersKind = keyof OwnersFacts;
export type PersonalKind = keyof PersonFacts;
export type NotificationKind = keyof KindFacts;

export type NotificationContent = {
  [Kind in NotificationKind]: { readonly kind: Kind; readonly about: KindFacts[Kind] };
}[NotificationKind];

export type Notification = NotificationContent & {
  /** The event's id, the same for each recipient and attempt. */
  readonly id: string;
  readonly accountId: string;
  readonly occurredAt: Date;
  /** The mail address of the person who caused it and is not notified; undefined if all are. */
  readonly by?: string | undefined;
};
