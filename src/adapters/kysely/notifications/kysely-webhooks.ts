import type { Selectable } from 'kysely';
import * as v from 'valibot';
import type { Sealer } from '../../../kernel/ports.ts';
import { webhookNotFound } from '../../../notifications/domain/notifications-error.ts';
import {
  mostWebhooks,
  isSlow,
  type Webhook,
  type WebhookStatus,
  type WebhookSecrets,
  type WebhookSecret,
} from '../../../notifications/domain/webhook.ts';
import type { WebhookOf, Webhooks } from '../../../notifications/webhook-ports.ts';
import { receiverOf } from '../../../notifications/domain/destination.ts';
import { ownersKinds } from '../../../notifications/domain/kinds.ts';
import type { Database, Queries, Schema } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { AggregateStore } from '../store.ts';
import { openColumns, sealedColumns } from '../sealed-values.ts';
import { parseStored, date, perhaps, present, type Entries } from '../table.ts';
import { webhooks } from './tables.ts';

type Add = Parameters<Webhooks['add']>[1];
type Change = Parameters<Webhooks['change']>[1];
type Remove = Parameters<Webhooks['remove']>[1];

export class KyselyWebhooks extends AggregateStore implements Webhooks {
  readonly #sealer: Sealer;

  constructor(database: Database, outbox: KyselyOutbox, sealer: Sealer) {
    super(database, outbox);
    this.#sealer = sealer;
  }

  async add(accountId: string, decide: Add): Promise<Webhook> {
    const lock = async (db: Queries) => {
      await this.lockAccount(accountId);
      const { current } = await db
        .selectFrom('webhooks')
        .select(({ fn }) => fn.countAll<bigint>().as('current'))
        .where('account_id', '=', accountId)
        .executeTakeFirstOrThrow();
      return Number(current);
    };
    const added = await this.changing(lock, decide, async ({ state, secrets }, db) => {
      const sealed = sealedSecrets(this.#sealer, state.id, secrets);
      await db
        .insertInto('webhooks')
        .values({ ...webhookRow(state), ...sealed })
        .execute();
    });
    return added.state;
  }

  async list(accountId: string): Promise<readonly Webhook[]> {
    const rows = await this.db
      .selectFrom('webhooks')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('id')
      .limit(mostWebhooks)
      .execute();
    return rows.map(webhookFrom);
  }

  async find({ accountId, webhookId }: WebhookOf): Promise<Webhook | undefined> {
    const row = await this.db
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', webhookId)
      .where('account_id', '=', accountId)
      .executeTakeFirst();
    return row && webhookFrom(row);
  }

  async change(of: WebhookOf, decide: Change): Promise<Webhook> {
    const { state } = await this.changing(
      () => this.#lock(of),
      (row) => decide(webhookFrom(row), () => openedSecrets(this.#sealer, row)),
      async ({ state, secrets }, db, before) => {
        const sealed = secrets && sealedSecrets(this.#sealer, before.id, secrets);
        await saveWebhook(db, { before, after: state }, sealed);
      },
    );
    return state;
  }

  async remove(of: WebhookOf, decide: Remove): Promise<void> {
    await this.changing(
      () => this.#lock(of),
      (row) => ({ events: decide(webhookFrom(row)) }),
      async (_decision, db, { id }) => {
        await cancelWaiting(db, id);
        await db.deleteFrom('webhooks').where('id', '=', id).execute();
      },
    );
  }

  /** @throws DomainError `webhook_not_found` */
  async #lock({ accountId, webhookId }: WebhookOf) {
    const row = await this.database.lock('webhooks', webhookId);
    if (row?.account_id !== accountId) throw webhookNotFound(webhookId);
    return row;
  }
}

type Row = Selectable<Schema['webhooks']>;
type SealedSecrets = Pick<Row, 'secrets' | 'sealed_by'>;

export const sealedSecrets = (sealer: Sealer, id: string, secrets: WebhookSecrets): SealedSecrets =>
  sealedColumns(sealer, 'webhooks', { key: id, secret: JSON.stringify(secrets) });

export const openedSecrets = (
  sealer: Sealer,
  row: Pick<Row, 'id' | 'secrets' | 'sealed_by'>,
): WebhookSecrets => parseStored(storedSecrets, openColumns(sealer, 'webhooks', row));

/** Saves the webhook. The caller must have locked it. */
export const saveWebhook = async (
  db: Queries,
  { before, after }: { readonly before: Row; readonly after: Webhook },
  secrets: Partial<SealedSecrets> = {},
): Promise<void> => {
  const { id, address, kinds, status } = after;
  await db
    .updateTable('webhooks')
    .set({ ...webhookRow(after), kinds: kindsColumn(before.kinds, kinds), ...secrets })
    .where('id', '=', id)
    .execute();
  if (status.state === 'off') await cancelWaiting(db, id);
  else if (address !== before.address || isSlow(after) !== (before.is_slow === 1n)) {
    const lane = { receiver: receiverOf(address), is_slow: isSlow(after) ? 1n : 0n };
    await waitingOf(db, id).set(lane).execute();
  }
};

/** Cancels waiting deliveries. An attempt in progress keeps its claim, so that its outcome is stored. */
const cancelWaiting = async (db: Queries, webhookId: string): Promise<void> => {
  await waitingOf(db, webhookId).set({ state: 'cancelled', next_at: null }).execute();
};

const waitingOf = (db: Queries, webhookId: string) =>
  db
    .updateTable('webhook_deliveries')
    .where('webhook_id', '=', webhookId)
    .where('next_at', 'is not', null);

const plain = webhooks.without('secrets', 'sealedBy');
type PlainRow = Parameters<typeof plain.read>[0];
type StatusColumns = Pick<ReturnType<typeof plain.read>, 'state' | keyof typeof blank>;

export const webhookFrom = (row: PlainRow): Webhook => {
  const { id, accountId, address, createdAt, oldSecretsUntil, ...rest } = plain.read(row);
  const kinds = kindsFrom(rest.kinds);
  return { id, accountId, address, createdAt, oldSecretsUntil, kinds, status: statusFrom(rest) };
};

const kindsFrom = (stored: string): Webhook['kinds'] => {
  const words = parseStored(storedKinds, stored);
  return words === 'all' ? words : ownersKinds.filter((kind) => words.includes(kind));
};

const storedKinds = v.union([v.literal('all'), v.array(v.string())]);

/** Keeps kinds of newer versions, because an older process may still run during an upgrade. */
const kindsColumn = (stored: string, kinds: Webhook['kinds']): string => {
  const words = parseStored(storedKinds, stored);
  if (kinds === 'all' || words === 'all') return JSON.stringify(kinds);
  return JSON.stringify([...kinds, ...words.filter((word) => !isOwnersKind(word))]);
};

const isOwnersKind = (word: string): boolean => ownersKinds.some((kind) => kind === word);

const statusFrom = ({
  state,
  failingSince,
  failedAt,
  isSlow,
  reason,
  offSince,
}: StatusColumns): WebhookStatus => {
  switch (state) {
    case 'on':
      return { state, failingSince, failedAt, isSlow: present('is_slow', isSlow) };
    case 'off':
      return {
        state,
        reason: present('reason', reason),
        offSince: present('off_since', offSince),
      };
  }
};

const blank = {
  failingSince: undefined,
  failedAt: undefined,
  isSlow: undefined,
  reason: undefined,
  offSince: undefined,
};

export const webhookRow = ({ status, kinds, ...webhook }: Webhook): PlainRow =>
  plain.write({ ...webhook, kinds: JSON.stringify(kinds), ...blank, ...status });

const storedSecrets = v.array(
  v.object({ secret: v.string(), endsAt: perhaps(date) } satisfies Entries<WebhookSecret>),
);
