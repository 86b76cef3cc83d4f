import type { Sealer } from '../../../kernel/sealer.ts';
import { webhookNotFound } from '../../../notifications/domain/notifications-error.ts';
import { mostWebhooks, type Webhook } from '../../../notifications/domain/webhook.ts';
import type { WebhookOf, Webhooks } from '../../../notifications/webhook-ports.ts';
import type { Database } from '../database.ts';
import type { KyselyOutbox } from '../kysely-outbox.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { cancelWaiting, openedSecrets, saveWebhook, sealedSecrets } from './saved-webhook.ts';
import { webhookFrom, webhookRow } from './webhook-rows.ts';

type Add = Parameters<Webhooks['add']>[1];
type Change = Parameters<Webhooks['change']>[1];
type Remove = Parameters<Webhooks['remove']>[1];

export class KyselyWebhooks extends AggregateStore implements Webhooks {
  readonly #sealer: Sealer;

  constructor(database: Database, outbox: KyselyOutbox, sealer: Sealer) {
    super(database, outbox);
    this.#sealer = sealer;
  }

  add(accountId: string, decide: Add): Promise<Webhook> {
    return this.database.transaction(async (db) => {
      // Serialises the adds of one account.
      await this.database.lock('accounts', accountId);
      const { current } = await db
        .selectFrom('webhooks')
        .select(({ fn }) => fn.countAll<bigint>().as('current'))
        .where('account_id', '=', accountId)
        .executeTakeFirstOrThrow();
      const { state, secrets, events } = decide(Number(current));
      const sealed = sealedSecrets(this.#sealer, state.id, secrets);
      await db
        .insertInto('webhooks')
        .values({ ...webhookRow(state), ...sealed })
        .execute();
      await this.outbox.append(events);
      return state;
    });
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

  change(of: WebhookOf, decide: Change): Promise<Webhook> {
    return this.database.transaction(async (db) => {
      const row = await this.#lock(of);
      const webhook = webhookFrom(row);
      const secretsOf = () => openedSecrets(this.#sealer, row.id, row);
      const { state, secrets, events } = decide(webhook, secretsOf);
      const sealed = secrets && sealedSecrets(this.#sealer, row.id, secrets);
      if (state !== webhook || sealed) await saveWebhook(db, { before: row, after: state }, sealed);
      await this.outbox.append(events);
      return state;
    });
  }

  async remove(of: WebhookOf, decide: Remove): Promise<void> {
    await this.database.transaction(async (db) => {
      const row = await this.#lock(of);
      const events = decide(webhookFrom(row));
      await cancelWaiting(db, row.id);
      await db.deleteFrom('webhooks').where('id', '=', row.id).execute();
      await this.outbox.append(events);
    });
  }

  /** @throws DomainError `webhook_not_found` */
  async #lock({ accountId, webhookId }: WebhookOf) {
    const row = await this.database.lock('webhooks', webhookId);
    if (row?.account_id !== accountId) throw webhookNotFound(webhookId);
    return row;
  }
}
