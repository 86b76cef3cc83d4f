import * as v from 'valibot';
import { sql, type Selectable } from 'kysely';
import { isKind, ownDoings } from '../../../notifications/domain/kinds.ts';
import {
  givenUpReasons,
  responsibles,
  type KindFacts,
  type NotificationKind,
  type NotificationContent,
  type Notification,
} from '../../../notifications/domain/notification.ts';
import { parseStored, perhaps, type Entries } from '../table.ts';
import type { Notice, Notices, Reader } from '../../../notifications/ports.ts';
import type { Schema } from '../database.ts';
import { Store, unlessStored } from '../store.ts';
import { notices } from './tables.ts';

// A new kind or fact does not compile until it is read here.

const project = { project: v.string() };
const host = v.object({ ...project, host: v.string(), name: v.string() });
const trouble = {
  ...host.entries,
  problem: v.string(),
  actor: v.picklist(responsibles),
  fix: v.string(),
  title: v.string(),
};
const quota = v.object({ used: v.number(), limit: v.number(), resetsAt: v.string() });
const person = { email: v.string() };
const link = v.object({ account: v.string(), path: v.string() });

const storedFacts = {
  'domain.live': host,
  'domain.removed': host,
  'domain.expired': host,
  'domain.contested': v.object({
    ...host.entries,
    isTaken: v.boolean(),
    proof: v.string(),
    wildcard: perhaps(v.string()),
  }),
  'domain.unhealthy': v.object(trouble),
  'domain.recovered': host,
  'certificate.failing': v.object({ ...trouble, expiresAt: perhaps(v.string()) }),
  'certificate.recovered': v.object({ ...host.entries, expiresAt: v.string() }),
  'project.deleted': v.object({ ...project, name: v.string(), until: v.string() }),
  'deploy.failed': v.object({ ...project, number: v.number(), explanation: v.string() }),
  'key.banned': v.object({ keyId: v.string(), name: v.string(), until: v.string() }),
  'quota.warning': quota,
  'quota.reached': quota,
  'operation.removal': v.object({ operation: v.string(), removedAt: v.string(), days: v.number() }),
  'webhook.off': v.object({
    webhookId: v.string(),
    receiver: v.string(),
    reason: v.picklist(givenUpReasons),
  }),
  'person.invited': v.object({ ...person, ...link.entries, until: v.string(), role: v.string() }),
  'sign_in.link': v.object({
    ...person,
    links: v.array(link),
    until: v.string(),
    isForPassword: v.boolean(),
  }),
  'account.deleted': v.object({ account: v.string(), until: v.string() }),
  'password.changed': v.object({ ...person, account: v.string(), changedAt: v.string() }),
  'second_factor.changed': v.object({ ...person, account: v.string(), changedAt: v.string() }),
} satisfies {
  readonly [Kind in NotificationKind]: { readonly entries: Entries<KindFacts[Kind]> };
};

/** @throws Error for kinds of newer versions and for wrong facts */
export const contentFrom = (kind: string, about: string): NotificationContent => {
  if (!isKind(kind)) throw new Error(`this version does not know the kind ${kind}`);
  const schema: v.GenericSchema<unknown, NotificationContent['about']> = storedFacts[kind];
  return { kind, about: parseStored(schema, about) } as NotificationContent;
};

const given = notices.without('id');

const actorLength = 'person:'.length;

export class KyselyNotices extends Store implements Notices {
  async add({ id, about, ...notice }: Notification): Promise<void> {
    const row = given.write({ ...notice, eventId: id, about: JSON.stringify(about) });
    await unlessStored(this.db.insertInto('notices').values(row).execute());
  }

  async list(accountId: string, limit: number, before?: bigint): Promise<readonly Notice[]> {
    const rows = await this.db
      .selectFrom('notices')
      .selectAll()
      .where('account_id', '=', accountId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0n))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.flatMap(fromRow);
  }

  async newest(accountId: string): Promise<bigint> {
    const row = await this.db
      .selectFrom('notices')
      .select('id')
      .where('account_id', '=', accountId)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row?.id ?? 0n;
  }

  async unread({ accountId, personId }: Reader, most: number): Promise<number> {
    const rows = await this.db
      .selectFrom('people')
      .innerJoin('notices', 'notices.account_id', 'people.account_id')
      .select('notices.id')
      .where('people.id', '=', personId)
      .where('people.account_id', '=', accountId)
      .where('notices.account_id', '=', accountId)
      .whereRef('notices.id', '>', ({ fn, val }) => fn.coalesce('people.notices_seen', val(0n)))
      .where(({ and, eb, exists, not, selectFrom }) => {
        const own = selectFrom('events')
          .select('events.id')
          .whereRef('events.id', '=', 'notices.event_id')
          .where(
            sql<string>`substr(events.actor, ${actorLength + 1})`,
            '=',
            eb.ref('people.email'),
          );
        return not(and([eb('notices.kind', 'in', ownDoings), exists(own)]));
      })
      .orderBy('notices.id', 'desc')
      .limit(most)
      .execute();
    return rows.length;
  }

  async markSeen({ accountId, personId }: Reader, place: bigint): Promise<bigint> {
    return this.database.transaction(async (db) => {
      const person = await db
        .selectFrom('people')
        .select('notices_seen')
        .where('id', '=', personId)
        .where('account_id', '=', accountId)
        .$call(this.database.engine.locked)
        .executeTakeFirst();
      const before = person?.notices_seen ?? 0n;
      if (before >= place) return before;
      await db
        .updateTable('people')
        .set({ notices_seen: place })
        .where('id', '=', personId)
        .where('account_id', '=', accountId)
        .execute();
      return before;
    });
  }
}

/** Leaves out kinds of newer versions. */
const fromRow = (row: Selectable<Schema['notices']>): readonly Notice[] => {
  if (!isKind(row.kind)) return [];
  const { id: place, eventId: id, kind, about, ...notice } = notices.read(row);
  return [{ ...notice, ...contentFrom(kind, about), id, place }];
};
