import type {
  ClaimedDelivery,
  Claiming,
  DueDelivery,
  WebhookCounts,
} from '../../../notifications/webhook-ports.ts';
import { mostCounted } from '../../../kernel/queue.ts';
import { givenUpReasons } from '../../../notifications/domain/notification.ts';
import type { Sealer } from '../../../kernel/ports.ts';
import type { Attempt, WebhookDelivery } from '../../../notifications/domain/webhook-delivery.ts';
import { type Queries, fromMillis, toMillis } from '../database.ts';
import { padded } from '../engine/statements.ts';
import { countWaiting } from '../queue.ts';
import { present } from '../table.ts';
import { openedSecrets, webhookFrom } from './kysely-webhooks.ts';
import { webhookAttempts, webhookDeliveries } from './tables.ts';

export const dueDeliveries = async (
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

export const claimedDeliveries = async (
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

export const deliveryFrom = (row: Row): WebhookDelivery => {
  const { state, nextAt, ...delivery } = ofDelivery.read(row);
  const progress = state === 'waiting' ? { state, nextAt: present('next_at', nextAt) } : { state };
  return { ...delivery, progress };
};

export const deliveryRow = ({ progress, ...delivery }: WebhookDelivery): Row =>
  ofDelivery.write({ ...delivery, nextAt: undefined, ...progress });

export const attemptRow = (deliveryId: string, attempt: Attempt): AttemptRow => {
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

export const attemptFrom = (row: AttemptRow): Attempt => {
  const { at, tookMs, status, why, answer } = ofAttempt.read(row);
  return status === undefined
    ? { at, tookMs, kind: 'failed', why: present('why', why), explanation: answer }
    : { at, tookMs, kind: 'answered', status, beginning: answer };
};
