import type { ExpressionBuilder } from 'kysely';
import type { Claim, Claiming, DueDelivery } from '../../../notifications/webhook-ports.ts';
import type { Sealer } from '../../../kernel/sealer.ts';
import type { Database, Queries } from '../database.ts';
import { padded } from '../engine/padded-lists.ts';
import { fromMillis, toMillis, type Schema } from '../schema.ts';
import { openedSecrets } from './saved-webhook.ts';
import { deliveryFrom } from './webhook-delivery-rows.ts';
import { webhookFrom } from './webhook-rows.ts';

/** How many due deliveries are looked at in one query. */
const window = 500;

interface Wanted extends Claiming {
  /** Unique for ever. */
  readonly claim: string;
}

/** See `WebhookDeliveries.claim`. */
export const claimDeliveries = async (
  database: Database,
  sealer: Sealer,
  wanted: Wanted,
): Promise<Claim> => {
  const due = await dueOf(database, wanted);
  const ids = wanted.choose(due).map(({ id }) => id);
  const mayBeMore = due.length === window;
  if (ids.length === 0) return { claimed: [], mayBeMore };
  const { claim, now, leaseUntil } = wanted;
  // Checks again that they are due, so that the loser of a race changes nothing.
  await database.transaction((db) =>
    db
      .updateTable('webhook_deliveries')
      .set({ claim, next_at: toMillis(leaseUntil) })
      .where('id', 'in', ids)
      .where('next_at', '<=', toMillis(now))
      .execute(),
  );
  return { claimed: await claimedBy(database, sealer, { claim, ids }), mayBeMore };
};

/** See `WebhookDeliveries.nextDueAt`. The first of each range of an index. */
export const nextDeliveryDueAt = async (db: Queries): Promise<Date | undefined> => {
  const { quick, slow } = await db
    .selectNoFrom((eb) => [firstOf(eb, false).as('quick'), firstOf(eb, true).as('slow')])
    .executeTakeFirstOrThrow();
  const times = [quick, slow].filter((time) => time !== null);
  const [first] = times.toSorted((one, other) => Number(one - other));
  return first === undefined ? undefined : fromMillis(first);
};

const firstOf = (eb: ExpressionBuilder<Schema, never>, isSlow: boolean) =>
  eb
    .selectFrom('webhook_deliveries')
    .select('next_at')
    .where('is_slow', '=', isSlow ? 1n : 0n)
    .where('next_at', '>=', 0n)
    .orderBy('next_at')
    .limit(1);

const dueOf = async (
  { db }: Database,
  { now, isSlow, except }: Claiming,
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
    .limit(window)
    .execute();
  return rows.map(({ id, webhook_id: webhookId, account_id: accountId, receiver }) => ({
    ...{ id, webhookId, accountId, receiver },
  }));
};

const claimedBy = async (
  { db }: Database,
  sealer: Sealer,
  { claim, ids }: { readonly claim: string; readonly ids: readonly string[] },
): Promise<Claim['claimed']> => {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('id', 'in', ids)
    .where('claim', '=', claim)
    .execute();
  if (rows.length === 0) return [];
  const webhooks = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', 'in', [...new Set(rows.map(({ webhook_id }) => webhook_id))])
    .execute();
  const rowOf = new Map(webhooks.map((row) => [row.id, row]));
  return rows.map((row) => {
    const its = rowOf.get(row.webhook_id);
    const webhook = its && webhookFrom(its);
    const secrets = () => (its ? openedSecrets(sealer, its.id, its) : []);
    return { delivery: deliveryFrom(row), claim, webhook, secrets };
  });
};
