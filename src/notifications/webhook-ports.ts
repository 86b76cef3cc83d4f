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

export interface WebhookOf {
  readonly accountId: string;
  readonly webhookId: string;
}

export interface WebhookChange extends Decision<Webhook, WebhookEvent> {
  readonly secrets?: WebhookSecrets;
}

/** The webhooks of each account. A change locks the webhook and stores state, secrets and events together. */
export abstract class Webhooks {
  /** @param decide gets the number of webhooks, under a lock @throws Error if the account does not exist */
  abstract add(
    accountId: string,
    decide: (current: number) => WebhookChange & { readonly secrets: WebhookSecrets },
  ): Promise<Webhook>;

  abstract list(accountId: string): Promise<readonly Webhook[]>;

  abstract find(of: WebhookOf): Promise<Webhook | undefined>;

  /** Cancels waiting deliveries of a webhook that is off. @throws DomainError `webhook_not_found` */
  abstract change(
    of: WebhookOf,
    decide: (webhook: Webhook, secrets: () => WebhookSecrets) => WebhookChange,
  ): Promise<Webhook>;

  /** Cancels waiting deliveries. @throws DomainError `webhook_not_found` */
  abstract remove(
    of: WebhookOf,
    decide: (webhook: Webhook) => readonly WebhookEvent[],
  ): Promise<void>;
}

export interface WebhookMessage {
  readonly accountId: string;
  readonly id: string;
  readonly type: string;
  readonly body: string;
}

export interface DueDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly accountId: string;
  readonly receiver: string;
}

export interface Claiming extends Most {
  readonly isSlow: boolean;
  readonly except: {
    readonly webhooks: readonly string[];
    readonly accounts: readonly string[];
    readonly receivers: readonly Pick<DueDelivery, 'accountId' | 'receiver'>[];
  };
  readonly choose: (due: readonly DueDelivery[]) => readonly DueDelivery[];
}

export interface ClaimedDelivery extends Claimed, Pick<DueDelivery, 'receiver'> {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook | undefined;
  /** @throws Error if they are encrypted with a key that this process does not have */
  readonly secrets: () => WebhookSecrets;
}

export interface ListedDelivery extends WebhookDelivery {
  readonly attempts: readonly Attempt[];
}

export interface WebhookCounts {
  readonly waiting: number;
  readonly oldestDue: Date | undefined;
  readonly givenUp: number;
}

export abstract class WebhookDeliveries implements Queue<ClaimedDelivery, Claiming> {
  /** Adds due deliveries. Adding the same message again changes nothing. @throws Error if the account is unknown */
  abstract add(message: WebhookMessage, to: readonly Webhook[], now: Date): Promise<void>;

  /** Adds a test. If one already waits, it becomes due now instead. */
  abstract addTest(message: WebhookMessage, to: Webhook, now: Date): Promise<void>;

  abstract claim(
    now: Date,
    leaseUntil: Date,
    claiming: Claiming,
  ): Promise<readonly ClaimedDelivery[]>;
  abstract nextDueAt(): Promise<Date | undefined>;

  /**
   * Ends the claim and stores the attempt, if any, with its result.
   * @param decide gets the current delivery and webhook
   * @returns undefined, without a change, if another process has claimed the delivery or it is gone
   */
  abstract settle(
    claimed: Pick<ClaimedDelivery, 'delivery' | 'claim'>,
    attempt: Attempt | undefined,
    decide: (now: Pick<ClaimedDelivery, 'delivery' | 'webhook'>) => Settlement,
  ): Promise<Settlement | undefined>;

  /** The newest first. @param before a delivery's id; returns older ones only */
  abstract list(of: WebhookOf, limit: number, before?: string): Promise<readonly ListedDelivery[]>;

  abstract find(of: WebhookOf, deliveryId: string): Promise<ListedDelivery | undefined>;

  /**
   * Stores delivery and events together, and deletes attempts beyond `attemptsOfOnce`. Does nothing during an
   * attempt.
   * @throws DomainError `webhook_not_found`, `webhook_delivery_not_found`
   */
  abstract repeat(
    of: WebhookOf,
    deliveryId: string,
    decide: (delivery: WebhookDelivery, webhook: Webhook) => Repetition,
  ): Promise<void>;

  abstract counts(now: Date): Promise<WebhookCounts>;
}

export abstract class AskedCalls {
  /** @throws DomainError if the account, or all accounts together, requested too many calls to the host */
  abstract admit(accountId: string, host: string): Promise<void>;
}

/** Signs messages as Standard Webhooks requires. */
export abstract class WebhookSigning {
  /** @returns `whsec_` and base64 of random bytes */
  abstract newSecret(): string;

  /** Headers with one signature per secret; a receiver that knows one secret can verify. */
  abstract headers(
    message: { readonly id: string; readonly body: string },
    secrets: readonly string[],
    at: Date,
  ): Readonly<Record<string, string>>;
}

/** Calls addresses that customers chose. */
export abstract class Outside {
  /** POSTs once to a public address, without redirects. Every failure is an outcome. @param signal ends early */
  abstract post(
    address: string,
    message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
    signal?: AbortSignal,
  ): Promise<Outcome>;
}
