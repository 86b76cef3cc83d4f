import type { Decision } from '../kernel/decision.ts';
import type { Claimed, Most, Queue } from '../kernel/queue.ts';
import type {
  Repetition,
  Settlement,
  Attempt,
  Outcome,
  WebhookDelivery,
} from './domain/webhook-delivery.ts';
import type { WebhookSecrets, Webhook, WebhookEvent } from './domain/webhook.ts';

/** A webhook of an account. That of another account does not exist for you. */
export interface WebhookOf {
  readonly accountId: string;
  readonly webhookId: string;
}

export interface WebhookChange extends Decision<Webhook, WebhookEvent> {
  /** Undefined: they stay. */
  readonly secrets?: WebhookSecrets;
}

/** The webhooks of each account. A change stores state, secrets and events together; while it decides, no other can. */
export abstract class Webhooks {
  /**
   * @param decide gets how many webhooks the account has: while it decides, nobody adds another
   * @throws Error if there is no such account
   */
  abstract add(
    accountId: string,
    decide: (current: number) => WebhookChange & { readonly secrets: WebhookSecrets },
  ): Promise<Webhook>;

  /** The oldest first. */
  abstract list(accountId: string): Promise<readonly Webhook[]>;

  abstract find(of: WebhookOf): Promise<Webhook | undefined>;

  /**
   * A webhook that is off afterwards has no deliveries that wait.
   * @param decide opens the secrets if it needs them
   * @throws DomainError `webhook_not_found`
   */
  abstract change(
    of: WebhookOf,
    decide: (webhook: Webhook, secrets: () => WebhookSecrets) => WebhookChange,
  ): Promise<Webhook>;

  /** Its deliveries that wait are cancelled. @throws DomainError `webhook_not_found` */
  abstract remove(
    of: WebhookOf,
    decide: (webhook: Webhook) => readonly WebhookEvent[],
  ): Promise<void>;
}

/** A message for some webhooks of one account. */
export interface WebhookMessage {
  readonly accountId: string;
  /** The id of its event. */
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

/** A delivery that is due. */
export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  /** The host that is called, with its port. */
  readonly receiver: string;
}

/** `limit` says how many are looked at. */
export interface Claiming extends Most {
  /** Whether to look at slow receivers, or at all others. */
  readonly isSlow: boolean;
  /** Not these: enough of their deliveries are under way. */
  readonly except: {
    readonly webhooks: readonly string[];
    readonly accounts: readonly string[];
    /** Only for that account. */
    readonly receivers: readonly Pick<DueDelivery, 'accountId' | 'receiver'>[];
  };
  /** Chooses those that there is room for. @param due the first that are due, in order */
  readonly choose: (due: readonly DueDelivery[]) => readonly DueDelivery[];
}

export interface ClaimedDelivery extends Claimed, Pick<DueDelivery, 'receiver'> {
  readonly delivery: WebhookDelivery;
  /** Undefined if it was removed. */
  readonly webhook: Webhook | undefined;
  /** @throws Error when they were sealed under a key that this process does not have */
  readonly secrets: () => WebhookSecrets;
}

/** A delivery with its attempts, the newest first. */
export interface ListedDelivery extends WebhookDelivery {
  readonly attempts: readonly Attempt[];
}

export interface WebhookCounts {
  readonly waiting: number;
  /** When the delivery that is overdue for the longest was due. */
  readonly oldestDue: Date | undefined;
  /** Webhooks that we switched off. */
  readonly givenUp: number;
}

/** What webhooks are called with. */
export abstract class WebhookDeliveries implements Queue<ClaimedDelivery, Claiming> {
  /**
   * Adds one that is due now for each of these webhooks. Adding the same message again changes nothing.
   * @throws Error if there is no such account
   */
  abstract add(message: WebhookMessage, to: readonly Webhook[], now: Date): Promise<void>;

  /**
   * The same for a test, of which one waits at most: if one waits already, that one is due now.
   */
  abstract addTest(message: WebhookMessage, to: Webhook, now: Date): Promise<void>;

  abstract claim(
    now: Date,
    leaseUntil: Date,
    claiming: Claiming,
  ): Promise<readonly ClaimedDelivery[]>;
  abstract nextDueAt(): Promise<Date | undefined>;

  /**
   * Stores an attempt, if there was one, and what it leads to, together, and ends the claim.
   * @param decide gets delivery and webhook as they are now
   * @returns undefined, and changes nothing, if somebody else has claimed it since, or nobody has it any more
   */
  abstract settle(
    claimed: Pick<ClaimedDelivery, 'delivery' | 'claim'>,
    attempt: Attempt | undefined,
    decide: (now: Pick<ClaimedDelivery, 'delivery' | 'webhook'>) => Settlement,
  ): Promise<Settlement | undefined>;

  /** The newest first. @param before the id of a delivery: only older ones */
  abstract list(of: WebhookOf, limit: number, before?: string): Promise<readonly ListedDelivery[]>;

  abstract find(of: WebhookOf, deliveryId: string): Promise<ListedDelivery | undefined>;

  /**
   * Stores delivery and events together, and forgets old attempts beyond `attemptsOfOnce`. One with an attempt under way
   * stays as it is, without events: it is being sent.
   * @throws DomainError `webhook_not_found`, `webhook_delivery_not_found`
   */
  abstract repeat(
    of: WebhookOf,
    deliveryId: string,
    decide: (delivery: WebhookDelivery, webhook: Webhook) => Repetition,
  ): Promise<void>;

  /** At most `mostCounted` waiting ones are counted. */
  abstract counts(now: Date): Promise<WebhookCounts>;
}

/** Calls that people ask for, beside those that events lead to. */
export abstract class AskedCalls {
  /** Counts one. @throws DomainError when the account, or all accounts together, asked for too many to that host */
  abstract admit(accountId: string, host: string): Promise<void>;
}

/** Signs messages as Standard Webhooks says. */
export abstract class WebhookSigning {
  /** @returns `whsec_` and the base64 of random bytes */
  abstract newSecret(): string;

  /** The headers of a message, signed with each secret: a receiver that knows one of them can verify it. */
  abstract headers(
    message: { readonly id: string; readonly body: string },
    secrets: readonly string[],
    at: Date,
  ): Readonly<Record<string, string>>;
}

/** Calls addresses that customers chose. */
export abstract class Outside {
  /**
   * POSTs once to an address, which must be public, and follows no redirect. Never throws for what the other side does:
   * all of that is an outcome.
   * @param signal ends the call early
   */
  abstract post(
    address: string,
    message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
    signal?: AbortSignal,
  ): Promise<Outcome>;
}
