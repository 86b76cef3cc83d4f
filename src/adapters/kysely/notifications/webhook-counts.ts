import { mostCounted } from '../../../kernel/outbox.ts';
import { givenUpReasons } from '../../../notifications/domain/notification.ts';
import type { WebhookCounts } from '../../../notifications/webhook-ports.ts';
import type { Queries } from '../database.ts';
import { fromMillis, toMillis } from '../schema.ts';

const lanes = [0n, 1n];

export const countWebhooks = async (db: Queries, now: Date): Promise<WebhookCounts> => {
  let waiting = 0;
  let oldest = toMillis(now);
  for (const lane of lanes) {
    const { count, first } = await firstOf(db, lane);
    waiting += Number(count);
    if (first !== null && first < oldest) oldest = first;
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

/** A range of an index. */
const firstOf = (db: Queries, lane: bigint) =>
  db
    .selectFrom((inner) =>
      inner
        .selectFrom('webhook_deliveries')
        .select('next_at')
        .where('is_slow', '=', lane)
        .where('next_at', 'is not', null)
        .orderBy('next_at')
        .limit(mostCounted)
        .as('counted'),
    )
    .select(({ fn }) => [
      fn.countAll<bigint>().as('count'),
      fn.min<bigint | null>('counted.next_at').as('first'),
    ])
    .executeTakeFirstOrThrow();
