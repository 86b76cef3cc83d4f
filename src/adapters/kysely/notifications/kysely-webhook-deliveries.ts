import type { Updateable } from 'kysely';
import type { Ids, Sealer } from '../../../kernel/ports.ts';
import {
  type Settlement,
  type Attempt,
  attemptsOfOnce,
  type WebhookDelivery,
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
  DueDelivery,
} from '../../../notifications/webhook-ports.ts';
import { type Database, type Queries, toMillis, type Schema, fromMillis } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { QueueRows, countWaiting } from '../queue.ts';
import { AggregateStore, unlessStored } from '../store.ts';
import { saveWebhook, webhookFrom, openedSecrets } from './kysely-webhooks.ts';
import { mostCounted } from '../../../kernel/queue.ts';
import { givenUpReasons } from '../../../notifications/domain/notification.ts';
import { padded } from '../engine/statements.ts';
import { present } from '../table.ts';
import { webhookAttempts, webhookDeliveries } from './tables.ts';

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

const dueDeliveries = async (
  db: Queries,
  now: Date,
  { isSlow, except, limit }: Claiming,
): Promise<readonly DueDelivery[]> => {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select(['id', 'webhook_id', 'account_id', 'receiver'])
    .where('is_slow', '=', isSlow ? 1n : 0n)
    .where('next_at', '<=', toMillis(now))
    .$if(except.webhooks.length > 0, (some) => some.where('webhook_id', 'not in', except.webhooks))
    .$if(except.accounts.length > 0, (some) => some.where('account_id', 'not in', except.accounts))
    .$if(except.receivers.length > 0, (some) =>
      some.where(({ eb, and, or, not }) =>
        not(
          or(
            padded(except.receivers).map(({ accountId, receiver }) =>
              and([eb('account_id', '=', accountId), eb('receiver', '=', receiver)]),
            ),
          ),
        ),
      ),
    )
    .orderBy('next_at')
    .limit(limit)
    .execute();
  return rows.map(({ id, webhook_id: webhookId, account_id: accountId, receiver }) => ({
    id,
    webhookId,
    accountId,
    receiver,
  }));
};

const claimedDeliveries = async (
  db: Queries,
  sealer: Sealer,
  { claim, ids }: { readonly claim: string; readonly ids: readonly string[] },
): Promise<readonly ClaimedDelivery[]> => {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', 'in', ids)
    .where('claim', '=', claim)
    .execute();
  if (rows.length === 0) return [];
  const webhooks = await db
    .selectFrom('webhooks')
    .innerJoin('accounts', 'accounts.id', 'webhooks.account_id')
    .selectAll('webhooks')
    // Deliveries of a deleted account are cancelled.
    .where('accounts.deleted_at', 'is', null)
    .where('webhooks.id', 'in', [...new Set(rows.map(({ webhook_id }) => webhook_id))])
    .execute();
  const rowOf = new Map(webhooks.map((row) => [row.id, row]));
  return rows.map((row) => {
    const its = rowOf.get(row.webhook_id);
    const webhook = its && webhookFrom(its);
    const secrets = () => (its ? openedSecrets(sealer, its) : []);
    return {
      id: row.id,
      claim,
      receiver: row.receiver,
      delivery: deliveryFrom(row),
      webhook,
      secrets,
    };
  });
};

const lanes = [0n, 1n];

export const countWebhooks = async (db: Queries, now: Date): Promise<WebhookCounts> => {
  let waiting = 0;
  let oldest = toMillis(now);
  for (const lane of lanes) {
    const { count, least } = await countWaiting(db, {
      table: 'webhook_deliveries',
      due: 'next_at',
      least: 'next_at',
      only: ['is_slow', '=', lane],
    });
    waiting += count;
    if (least !== null && least < oldest) oldest = least;
  }
  const off = await db
    .selectFrom('webhooks')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('reason', 'in', givenUpReasons)
    .executeTakeFirstOrThrow();
  return {
    waiting: Math.min(waiting, mostCounted),
    oldestDue: oldest < toMillis(now) ? fromMillis(oldest) : undefined,
    givenUp: Number(off.count),
  };
};

const ofDelivery = webhookDeliveries.without('begunAt', 'receiver', 'isSlow', 'claim');
type Row = Parameters<typeof ofDelivery.read>[0];
const ofAttempt = webhookAttempts.without('id');
type AttemptRow = Parameters<typeof ofAttempt.read>[0];

const deliveryFrom = (row: Row): WebhookDelivery => {
  const { state, nextAt, ...delivery } = ofDelivery.read(row);
  const progress = state === 'waiting' ? { state, nextAt: present('next_at', nextAt) } : { state };
  return { ...delivery, progress };
};

const deliveryRow = ({ progress, ...delivery }: WebhookDelivery): Row =>
  ofDelivery.write({ ...delivery, nextAt: undefined, ...progress });

const attemptRow = (deliveryId: string, attempt: Attempt): AttemptRow => {
  const common = { deliveryId, at: attempt.at, tookMs: Math.round(attempt.tookMs) };
  switch (attempt.kind) {
    case 'answered': {
      const { status, beginning: answer } = attempt;
      return ofAttempt.write({ ...common, status, why: undefined, answer });
    }
    case 'failed': {
      const { why, explanation: answer } = attempt;
      return ofAttempt.write({ ...common, status: undefined, why, answer });
    }
  }
};

const attemptFrom = (row: AttemptRow): Attempt => {
  const { at, tookMs, status, why, answer } = ofAttempt.read(row);
  return status === undefined
    ? { at, tookMs, kind: 'failed', why: present('why', why), explanation: answer }
    : { at, tookMs, kind: 'answered', status, beginning: answer };
};
