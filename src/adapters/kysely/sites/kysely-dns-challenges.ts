import { sql } from 'kysely';
import type { DnsChallenge, DnsChallenges } from '../../../domains/certificate-ports.ts';
import { toMillis } from '../schema.ts';
import { Store } from '../store.ts';
import { dnsChallenges } from './tables.ts';

export class KyselyDnsChallenges extends Store implements DnsChallenges {
  async publish(subject: string, challenge: DnsChallenge): Promise<void> {
    const row = dnsChallenges.write({ ...challenge, subject });
    await this.database.transaction(async (db) => {
      // Locked, so that either the order is forgotten already, or forgetting it deletes this value too.
      const order = await db
        .selectFrom('certificate_orders')
        .select('subject')
        .where('subject', '=', subject)
        .$call(this.database.engine.locked)
        .executeTakeFirst();
      if (!order) throw new Error(`the order of ${subject} was forgotten meanwhile`);
      await this.database.engine
        .upsert({
          insert: db.insertInto('dns_challenges').values(row),
          key: ['label', 'value', 'subject'],
          change: { expires_at: sql`${row.expires_at}` },
        })
        .execute();
    });
  }

  async valuesFor(
    labels: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.db
      .selectFrom('dns_challenges')
      .select(['label', 'value'])
      .where('label', 'in', [...labels])
      .where('expires_at', '>', toMillis(now))
      .orderBy('value')
      .execute();
    const values = new Map<string, readonly string[]>();
    for (const { label, value } of rows) {
      // Two orders may have the same challenge.
      values.set(label, [...new Set(values.get(label)).add(value)]);
    }
    return values;
  }
}
