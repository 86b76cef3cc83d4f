import { sql } from 'kysely';
import {
  mostCalls,
  usageOutcomes,
  type Caller,
  type UsageLog,
  type CallsOfKey,
  type HourOfUsage,
  type RequestsOfKey,
  type UsageSum,
  type CounterSnapshots,
  type CounterSnapshot,
} from '../../../access/ports.ts';
import { insertMany, Store } from '../store.ts';
import { oneOf } from '../table.ts';
import { fromMillis, toMillis } from '../database.ts';
import { usageDays, usageHours, quotaCounters } from './tables.ts';
import { dayMs } from '../../../kernel/durations.ts';

/** Each table has the column that its unit names. */
const tableOf = { hour: 'usage_hours', day: 'usage_days' } as const;
type Unit = keyof typeof tableOf;

export class KyselyUsageLog extends Store implements UsageLog {
  async add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void> {
    await this.database.transaction(async () => {
      // A fixed order prevents deadlocks between processes.
      for (const hour of [...hours].sort(byKey)) await this.#addHour(hour);
      for (const day of daysOf(hours)) await this.#addDay(day);
      for (const [keyId, at] of [...lastUsed].sort()) await this.#touch(keyId, at);
    });
  }

  async list(accountId: string, since: Date, until?: Date): Promise<readonly HourOfUsage[]> {
    const rows = await this.db
      .selectFrom('usage_hours')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('hour', '>=', toMillis(since))
      .$if(until !== undefined, (some) => some.where('hour', '<', until ? toMillis(until) : 0n))
      .orderBy('hour')
      .orderBy('key_id')
      .orderBy('operation')
      .orderBy('outcome')
      .execute();
    return rows.map(usageHours.read);
  }

  async sum({ accountId, keyId }: Caller, since: Date, unit: Unit): Promise<readonly UsageSum[]> {
    const rows = await this.#sumsOf(accountId, since, unit)
      .select([sql.ref<bigint>(unit).as('begin'), 'outcome'])
      .$if(keyId !== undefined, (some) => some.where('key_id', '=', keyId ?? ''))
      .groupBy([sql.ref('begin'), 'outcome'])
      .orderBy('begin')
      .orderBy('outcome')
      .execute();
    return rows.map((row) => ({
      begin: fromMillis(row.begin),
      outcome: oneOf(usageOutcomes, row.outcome),
      requests: Number(row.requests),
    }));
  }

  async sumByKey(accountId: string, since: Date, unit: Unit): Promise<readonly RequestsOfKey[]> {
    const rows = await this.#sumsOf(accountId, since, unit)
      .select(['key_id', 'outcome'])
      .groupBy(['key_id', 'outcome'])
      .orderBy('key_id')
      .orderBy('outcome')
      .execute();
    return rows.map((row) => ({
      keyId: row.key_id,
      outcome: oneOf(usageOutcomes, row.outcome),
      requests: Number(row.requests),
    }));
  }

  async callsTo(
    operations: readonly string[],
    accountId: string,
    since: Date,
  ): Promise<readonly CallsOfKey[]> {
    if (operations.length === 0) return [];
    const rows = await this.db
      .selectFrom('usage_hours')
      .select(({ fn }) => ['key_id', 'operation', fn.max('hour').as('last_hour')])
      .select(this.database.engine.sum('requests').as('requests'))
      .where('account_id', '=', accountId)
      .where('hour', '>=', toMillis(since))
      .where('operation', 'in', operations)
      // With each key, the index leads to the hours. Otherwise all hours of the operation would be read.
      .where(
        'key_id',
        'in',
        this.db.selectFrom('api_keys').select('id').where('account_id', '=', accountId),
      )
      .groupBy(['key_id', 'operation'])
      .orderBy('last_hour', 'desc')
      .orderBy('key_id')
      .orderBy('operation')
      .limit(mostCalls)
      .execute();
    return rows.map((row) => ({
      keyId: row.key_id,
      operation: row.operation,
      requests: Number(row.requests),
      lastHour: fromMillis(row.last_hour),
    }));
  }

  #sumsOf(accountId: string, since: Date, unit: Unit) {
    return this.db
      .selectFrom(tableOf[unit])
      .select(this.database.engine.sum('requests').as('requests'))
      .where('account_id', '=', accountId)
      .where(sql.ref(unit), '>=', toMillis(since));
  }

  async #addHour(hour: HourOfUsage): Promise<void> {
    const row = usageHours.write(hour);
    await this.database.engine
      .upsert({
        insert: this.db.insertInto('usage_hours').values(row),
        key: ['account_id', 'hour', 'key_id', 'operation', 'outcome'],
        change: { requests: sql`${sql.ref('usage_hours.requests')} + ${row.requests}` },
      })
      .execute();
  }

  async #addDay(day: DayOfUsage): Promise<void> {
    const row = usageDays.write(day);
    await this.database.engine
      .upsert({
        insert: this.db.insertInto('usage_days').values(row),
        key: ['account_id', 'day', 'key_id', 'outcome'],
        change: { requests: sql`${sql.ref('usage_days.requests')} + ${row.requests}` },
      })
      .execute();
  }

  /** Keeps a later use that another process has stored. */
  async #touch(keyId: string, at: Date): Promise<void> {
    await this.db
      .updateTable('api_keys')
      .set({ last_used_at: toMillis(at) })
      .where('id', '=', keyId)
      .where((key) =>
        key.or([key('last_used_at', 'is', null), key('last_used_at', '<', toMillis(at))]),
      )
      .execute();
  }
}

type DayOfUsage = Omit<HourOfUsage, 'hour' | 'operation'> & { readonly day: Date };

/** Sums over hours and operations, in a fixed order. */
const daysOf = (hours: readonly HourOfUsage[]): readonly DayOfUsage[] => {
  const days = Map.groupBy(hours.map(dayOf), ({ accountId, day, keyId, outcome }) =>
    [accountId, day.toISOString(), keyId, outcome].join(' '),
  );
  return [...days.keys()].sort().flatMap((key) => {
    const [first, ...others] = days.get(key) ?? [];
    if (!first) return [];
    return { ...first, requests: others.reduce((sum, one) => sum + one.requests, first.requests) };
  });
};

const dayOf = ({ hour, operation: _, ...use }: HourOfUsage): DayOfUsage => ({
  ...use,
  day: new Date(hour.getTime() - (hour.getTime() % dayMs)),
});

const keyOf = (one: HourOfUsage): string =>
  [one.accountId, one.hour.toISOString(), one.keyId, one.operation, one.outcome].join(' ');

const byKey = (a: HourOfUsage, b: HourOfUsage): number => (keyOf(a) < keyOf(b) ? -1 : 1);

export class KyselyCounterSnapshots extends Store implements CounterSnapshots {
  async save(snapshots: readonly CounterSnapshot[], now: Date): Promise<void> {
    if (snapshots.length === 0) return;
    await this.database.transaction((db) =>
      insertMany(snapshots, (some) => {
        const rows = some.map((snapshot) => quotaCounters.write({ ...snapshot, savedAt: now }));
        return db.replaceInto('quota_counters').values(rows).execute();
      }),
    );
  }

  load(): Promise<readonly CounterSnapshot[]> {
    return this.db.selectFrom('quota_counters').select(['subject', 'data']).execute();
  }
}
