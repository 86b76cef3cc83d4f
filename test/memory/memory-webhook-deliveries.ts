import type { Ids } from '../../src/kernel/ids.ts';
import {
  webhookDeliveryNotFound,
  webhookNotFound,
} from '../../src/notifications/domain/notifications-error.ts';
import { receiverOf } from '../../src/notifications/domain/webhooks/address.ts';
import type { Settlement } from '../../src/notifications/domain/webhooks/attempts.ts';
import type { Attempt, WebhookDelivery } from '../../src/notifications/domain/webhooks/delivery.ts';
import { isSlow, type Webhook } from '../../src/notifications/domain/webhooks/webhook.ts';
import {
  WebhookDeliveries,
  type Claim,
  type ClaimedDelivery,
  type Claiming,
  type ListedDelivery,
  type WebhookCounts,
  type WebhookMessage,
  type WebhookOf,
} from '../../src/notifications/webhook-ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';
import type { MemoryWebhooks } from './memory-webhooks.ts';

interface Entry {
  delivery: WebhookDelivery;
  attempts: readonly Attempt[];
  begunAt: Date;
  receiver: string;
  isSlow: boolean;
  claim: string | undefined;
}

interface Needs {
  readonly webhooks: MemoryWebhooks;
  readonly outbox: Pick<MemoryOutbox, 'append'>;
  readonly accountExists: (id: string) => Promise<boolean>;
  readonly ids: Ids;
}

export class MemoryWebhookDeliveries extends WebhookDeliveries {
  readonly #needs: Needs;
  readonly #entries = new Map<string, Entry>();

  constructor(needs: Needs) {
    super();
    this.#needs = needs;
    needs.webhooks.watcher = {
      saved: (webhook) => {
        this.#align(webhook);
      },
      removed: (id) => {
        this.#cancel(id);
      },
    };
  }

  override addTest(message: WebhookMessage, to: Webhook, now: Date): Promise<void> {
    return this.add(message, [to], now);
  }

  override async add(message: WebhookMessage, to: readonly Webhook[], now: Date): Promise<void> {
    if (!(await this.#needs.accountExists(message.accountId))) throw new Error('no such account');
    for (const webhook of to)
      if (!this.#has(webhook.id, message.id)) this.#add(message, webhook, now);
  }

  override claim({ now, leaseUntil, isSlow: slow, except, choose }: Claiming): Promise<Claim> {
    const due = this.#waiting
      .filter((one) => one.isSlow === slow && one.nextAt <= now)
      .filter(({ entry }) => !except.webhooks.includes(entry.delivery.webhookId))
      .filter(({ entry }) => !except.accounts.includes(entry.delivery.accountId))
      .filter(
        ({ entry: { delivery, receiver } }) =>
          !except.receivers.some(
            (one) => one.accountId === delivery.accountId && one.receiver === receiver,
          ),
      )
      .sort((one, other) => one.nextAt.getTime() - other.nextAt.getTime())
      .map(({ entry: { delivery, receiver } }) => ({
        ...{ id: delivery.id, webhookId: delivery.webhookId },
        ...{ accountId: delivery.accountId, receiver },
      }));
    const claimed = choose(due).map(({ id }) => this.#claim(id, leaseUntil));
    return Promise.resolve({ claimed, mayBeMore: false });
  }

  override async settle(
    { delivery: { id }, claim }: Pick<ClaimedDelivery, 'delivery' | 'claim'>,
    attempt: Attempt | undefined,
    decide: Parameters<WebhookDeliveries['settle']>[2],
  ): Promise<Settlement | undefined> {
    await Promise.resolve();
    const entry = this.#entries.get(id);
    if (entry?.claim !== claim) return undefined;
    const webhook = this.#needs.webhooks.peek(entry.delivery.webhookId)?.webhook;
    const settlement = decide(structuredClone({ delivery: entry.delivery, webhook }));
    const { delivery, webhook: after, events } = structuredClone(settlement);
    entry.delivery = delivery;
    entry.claim = undefined;
    if (attempt) entry.attempts = [structuredClone(attempt), ...entry.attempts];
    if (after) {
      entry.isSlow = isSlow(after);
      this.#needs.webhooks.save(after);
    }
    this.#needs.outbox.append(events);
    return settlement;
  }

  override list(of: WebhookOf, limit: number, before?: string): Promise<readonly ListedDelivery[]> {
    const all = [...this.#entries.values()]
      .filter(({ delivery }) => isOf(delivery, of))
      .filter(({ delivery }) => before === undefined || delivery.id < before)
      .sort((one, other) => (one.delivery.id < other.delivery.id ? 1 : -1));
    return Promise.resolve(all.slice(0, limit).map(listed));
  }

  override find(of: WebhookOf, deliveryId: string): Promise<ListedDelivery | undefined> {
    const entry = this.#entries.get(deliveryId);
    return Promise.resolve(entry && isOf(entry.delivery, of) ? listed(entry) : undefined);
  }

  override async repeat(
    of: WebhookOf,
    deliveryId: string,
    decide: Parameters<WebhookDeliveries['repeat']>[2],
  ): Promise<void> {
    const webhook = await this.#needs.webhooks.find(of);
    if (!webhook) throw webhookNotFound(of.webhookId);
    const entry = this.#entries.get(deliveryId);
    if (!entry || !isOf(entry.delivery, of)) throw webhookDeliveryNotFound(deliveryId);
    const { delivery, begunAt, events } = decide(structuredClone(entry.delivery), webhook);
    if (entry.claim !== undefined && entry.delivery.progress.state === 'waiting') return;
    Object.assign(entry, structuredClone({ delivery, begunAt, claim: undefined }));
    this.#needs.outbox.append(events);
  }

  override counts(now: Date): Promise<WebhookCounts> {
    const due = this.#waiting.map(({ nextAt }) => nextAt).filter((nextAt) => nextAt < now);
    const [oldestDue] = due.sort((one, other) => one.getTime() - other.getTime());
    const off = this.#needs.webhooks.all.filter(
      ({ status }) => status.state === 'off' && status.reason !== 'by_hand',
    );
    return Promise.resolve({ waiting: this.#waiting.length, oldestDue, givenUp: off.length });
  }

  sweepDeliveries(before: Date): Promise<number> {
    const old = [...this.#entries].filter(([, { begunAt }]) => begunAt < before);
    for (const [id] of old) this.#entries.delete(id);
    return Promise.resolve(old.length);
  }

  sweepAttempts(before: Date): Promise<number> {
    let swept = 0;
    for (const entry of this.#entries.values()) {
      const kept = entry.attempts.filter(({ at }) => at >= before);
      swept += entry.attempts.length - kept.length;
      entry.attempts = kept;
    }
    return Promise.resolve(swept);
  }

  get #waiting() {
    return [...this.#entries.values()].flatMap((entry) => {
      const { progress } = entry.delivery;
      return progress.state === 'waiting'
        ? [{ entry, isSlow: entry.isSlow, nextAt: progress.nextAt }]
        : [];
    });
  }

  #has(webhookId: string, messageId: string): boolean {
    return [...this.#entries.values()].some(
      ({ delivery }) => delivery.webhookId === webhookId && delivery.messageId === messageId,
    );
  }

  #add(message: WebhookMessage, webhook: Webhook, now: Date): void {
    const id = this.#needs.ids.next('whd');
    const delivery: WebhookDelivery = {
      ...{ id, webhookId: webhook.id, accountId: message.accountId, messageId: message.id },
      ...{ type: message.type, body: message.body, addedAt: new Date(now), failures: 0 },
      progress: { state: 'waiting', nextAt: new Date(now) },
    };
    const lane = { receiver: receiverOf(webhook.address), isSlow: isSlow(webhook) };
    this.#entries.set(id, {
      ...{ delivery, attempts: [], begunAt: new Date(now), ...lane, claim: undefined },
    });
  }

  #claim(id: string, leaseUntil: Date): ClaimedDelivery {
    const entry = this.#entries.get(id)!;
    entry.claim = this.#needs.ids.next('claim');
    entry.delivery = {
      ...entry.delivery,
      progress: { state: 'waiting', nextAt: new Date(leaseUntil) },
    };
    const kept = this.#needs.webhooks.peek(entry.delivery.webhookId);
    return {
      ...{ delivery: structuredClone(entry.delivery), claim: entry.claim },
      ...{ webhook: kept?.webhook, secrets: () => kept?.secrets ?? [] },
    };
  }

  #align(webhook: Webhook): void {
    if (webhook.status.state === 'off') this.#cancel(webhook.id);
    for (const { entry } of this.#waiting) {
      if (entry.delivery.webhookId !== webhook.id) continue;
      entry.isSlow = isSlow(webhook);
      entry.receiver = receiverOf(webhook.address);
    }
  }

  #cancel(webhookId: string): void {
    for (const { entry } of this.#waiting) {
      if (entry.delivery.webhookId !== webhookId) continue;
      entry.delivery = { ...entry.delivery, progress: { state: 'cancelled' } };
    }
  }
}

const isOf = (delivery: WebhookDelivery, { accountId, webhookId }: WebhookOf): boolean =>
  delivery.accountId === accountId && delivery.webhookId === webhookId;

const listed = ({ delivery, attempts }: Entry): ListedDelivery =>
  structuredClone({ ...delivery, attempts });
