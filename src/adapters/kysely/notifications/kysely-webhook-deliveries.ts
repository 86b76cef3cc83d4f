import type { Updateable } from 'kysely';
import type { Ids, Sealer } from '../../../kernel/ports.ts';
import {
  type Settlement,
  type Attempt,
  attemptsOfOnce,
} from '../../../notifications/domain/webhook-delivery.ts';
import { receiverOf } from '../../../notifications/domain/destination.ts';
import {
  webhookDeliveryNotFound,
  webhookNotFound,
} from '../../../notifications/domain/notifications-error.ts';
import { isSlow, type Webhook } from '../../../notifications/domain/webhook.ts';
import type {
  ClaimedDelivery,
  Claiming,
  ListedDelivery,
  WebhookCounts,
  WebhookDeliveries,
  WebhookMessage,
  WebhookOf,
} from '../../../notifications/webhook-ports.ts';
import { type Database, type Queries, toMillis, type Schema } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { QueueRows } from '../queue.ts';
import { AggregateStore, unlessStored } from '../store.ts';
import { saveWebhook, webhookFrom } from './kysely-webhooks.ts';
import {
  claimedDeliveries,
  countWebhooks,
  dueDeliveries,
  attemptFrom,
  attemptRow,
  deliveryFrom,
  deliveryRow,
} from './webhook-claims.ts';

type Settle = Parameters<WebhookDeliveries['settle']>[2];
type Repeat = Parameters<WebhookDeliveries['repeat']>[2];

interface Needs {
  readonly sealer: Sealer;
  readonly ids: Ids;
}

export class KyselyWebhookDeliveries extends AggregateStore implements WebhookDeliveries {
  readonly #needs: Needs;
  readonly #queue: QueueRows;

  constructor(database: Database, outbox: KyselyOutbox, needs: Needs) {
    super(database, outbox);
    this.#needs = needs;
    this.#queue = new QueueRows(database, needs.ids, {
      table: 'webhook_deliveries',
      key: 'id',
      due: 'next_at',
      order: ['next_at'],
      only: { column: 'is_slow', values: [0n, 1n] },
    });
  }

  async add(message: WebhookMessage, to: readonly Webhook[], now: Date): Promise<void> {
    await this.database.transaction(async () => {
      for (const webhook of to) await this.#addOne(message, webhook, now);
    });
  }

  async addTest(message: WebhookMessage, to: Webhook, now: Date): Promise<void> {
    await this.database.transaction(async (db) => {
      await this.database.lock('webhooks', to.id);
      const waiting = await db
        .selectFrom('webhook_deliveries')
        .select(['id', 'message_id'])
        .where('webhook_id', '=', to.id)
        .where('next_at', 'is not', null)
        .where('type', '=', message.type)
        .limit(1)
        .executeTakeFirst();
      if (!waiting) await this.#addOne(message, to, now);
      else if (waiting.message_id !== message.id) await hurry(db, waiting.id, now);
    });
  }

  async claim(
    now: Date,
    leaseUntil: Date,
    claiming: Claiming,
  ): Promise<readonly ClaimedDelivery[]> {
    const due = await dueDeliveries(this.db, now, claiming);
    const ids = claiming.choose(due).map(({ id }) => id);
    if (ids.length === 0) return [];
    const claim = await this.#queue.lease(ids, now, leaseUntil);
    return claimedDeliveries(this.db, this.#needs.sealer, { claim, ids });
  }

  nextDueAt(): Promise<Date | undefined> {
    return this.#queue.nextDueAt();
  }

  settle(
    { delivery: { id, webhookId }, claim }: Pick<ClaimedDelivery, 'delivery' | 'claim'>,
    attempt: Attempt | undefined,
    decide: Settle,
  ): Promise<Settlement | undefined> {
    const lock = async () => {
      const stored = await this.database.lock('webhooks', webhookId);
      const row = await this.database.lock('webhook_deliveries', id);
      return { stored, webhook: stored && webhookFrom(stored), row };
    };
    const change = () =>
      this.changing(
        lock,
        ({ webhook, row }) =>
          row?.claim === claim ? decide({ delivery: deliveryFrom(row), webhook }) : undefined,
        async ({ delivery, webhook: after }, db, { stored, webhook }) => {
          const lane = { claim: null, is_slow: after && isSlow(after) ? 1n : 0n };
          await saveDelivery(db, { ...deliveryRow(delivery), ...lane });
          if (attempt) {
            await db.insertInto('webhook_attempts').values(attemptRow(id, attempt)).execute();
          }
          if (stored && after && after !== webhook)
            await saveWebhook(db, { before: stored, after });
        },
      );
    return this.database.batched(change);
  }

  async list(of: WebhookOf, limit: number, before?: string): Promise<readonly ListedDelivery[]> {
    const rows = await this.#of(of)
      .$if(before !== undefined, (some) => some.where('id', '<', before ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    const attempts = await this.#attemptsAt(rows.map(({ id }) => id));
    return rows.map((row) => ({ ...deliveryFrom(row), attempts: attempts.get(row.id) ?? [] }));
  }

  async find(of: WebhookOf, deliveryId: string): Promise<ListedDelivery | undefined> {
    const row = await this.#of(of).where('id', '=', deliveryId).executeTakeFirst();
    if (!row) return undefined;
    const attempts = await this.#attemptsAt([row.id]);
    return { ...deliveryFrom(row), attempts: attempts.get(row.id) ?? [] };
  }

  async repeat(of: WebhookOf, deliveryId: string, decide: Repeat): Promise<void> {
    const lock = async () => {
      const webhook = await this.database.lock('webhooks', of.webhookId);
      if (webhook?.account_id !== of.accountId) throw webhookNotFound(of.webhookId);
      const row = await this.database.lock('webhook_deliveries', deliveryId);
      if (row?.webhook_id !== of.webhookId) throw webhookDeliveryNotFound(deliveryId);
      return { webhook: webhookFrom(webhook), row };
    };
    await this.changing(
      lock,
      ({ webhook, row }) => {
        const decision = decide(deliveryFrom(row), webhook);
        // An attempt is in progress, or the next attempt is due when the lease ends.
        if (row.claim !== null && row.next_at !== null) return undefined;
        return decision;
      },
      async ({ delivery, begunAt }, db) => {
        await forgetAttempts(db, deliveryId);
        const begun = { begun_at: toMillis(begunAt), claim: null };
        await saveDelivery(db, { ...deliveryRow(delivery), ...begun });
      },
    );
  }

  counts(now: Date): Promise<WebhookCounts> {
    return countWebhooks(this.db, now);
  }

  async #addOne(message: WebhookMessage, webhook: Webhook, now: Date): Promise<void> {
    const row = {
      ...deliveryRow({
        id: this.#needs.ids.next('whd'),
        webhookId: webhook.id,
        accountId: message.accountId,
        messageId: message.id,
        type: message.type,
        body: message.body,
        addedAt: now,
        failures: 0,
        progress: { state: 'waiting', nextAt: now },
      }),
      begun_at: toMillis(now),
      receiver: receiverOf(webhook.address),
      is_slow: isSlow(webhook) ? 1n : 0n,
      claim: null,
    };
    await unlessStored(this.db.insertInto('webhook_deliveries').values(row).execute());
  }

  #of({ accountId, webhookId }: WebhookOf) {
    return this.db
      .selectFrom('webhook_deliveries')
      .selectAll()
      .where('webhook_id', '=', webhookId)
      .where('account_id', '=', accountId);
  }

  async #attemptsAt(ids: readonly string[]): Promise<ReadonlyMap<string, readonly Attempt[]>> {
    if (ids.length === 0) return new Map();
    const rows = await this.db
      .selectFrom('webhook_attempts')
      .selectAll()
      .where('delivery_id', 'in', ids)
      .orderBy('id', 'desc')
      .limit(ids.length * 2 * attemptsOfOnce)
      .execute();
    const byDelivery = Map.groupBy(rows, ({ delivery_id }) => delivery_id);
    return new Map([...byDelivery].map(([id, its]) => [id, its.map(attemptFrom)]));
  }
}

const saveDelivery = async (
  db: Queries,
  row: Updateable<Schema['webhook_deliveries']> & { readonly id: string },
): Promise<void> => {
  await db.updateTable('webhook_deliveries').set(row).where('id', '=', row.id).execute();
};

/** Makes the delivery due now. An attempt in progress stays. */
const hurry = async (db: Queries, id: string, now: Date): Promise<void> => {
  await db
    .updateTable('webhook_deliveries')
    .set({ next_at: toMillis(now) })
    .where('id', '=', id)
    .where('claim', 'is', null)
    .execute();
};

/** Keeps only the attempts of the last sending. */
const forgetAttempts = async (db: Queries, deliveryId: string): Promise<void> => {
  const all = await db
    .selectFrom('webhook_attempts')
    .select('id')
    .where('delivery_id', '=', deliveryId)
    .orderBy('id', 'desc')
    .execute();
  const surplus = all.slice(attemptsOfOnce).map(({ id }) => id);
  if (surplus.length > 0)
    await db.deleteFrom('webhook_attempts').where('id', 'in', surplus).execute();
};
