import { domainNotFound } from '../../../domains/domain/domains-error.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import {
  mostShares,
  type DomainShare,
  type ShareChange,
} from '../../../domains/domain/attachment/share.ts';
import type { DomainShares } from '../../../domains/share-ports.ts';
import type { Selectable } from 'kysely';
import type { Queries } from '../database.ts';
import { fromMillis, toMillis, type RowOf, type Schema } from '../schema.ts';
import { AggregateStore } from '../aggregate-store.ts';
import { customDomainFrom } from './custom-domain-rows.ts';

type Shared = Pick<CustomDomain, 'id' | 'accountId'>;

export class KyselyDomainShares extends AggregateStore implements DomainShares {
  change<Change extends ShareChange>(
    domain: Shared,
    now: Date,
    decide: (domain: CustomDomain, open: readonly DomainShare[]) => Change,
  ): Promise<Change> {
    return this.database.transaction(async (db) => {
      const row = await this.database.lock('domains', domain.id);
      if (row?.account_id !== domain.accountId) throw domainNotFound(domain.id);
      const change = decide(customDomainFrom(row), await this.list(domain, now));
      const { added, ended, events } = change;
      if (added) await db.insertInto('domain_shares').values(toRow(added)).execute();
      if (ended !== undefined) {
        const { accountId, id } = domain;
        await db
          .deleteFrom('domain_shares')
          .where('account_id', '=', accountId)
          .where('domain_id', '=', id)
          .where('id', '=', ended)
          .execute();
      }
      await this.outbox.append(events);
      return change;
    });
  }

  async list({ accountId, id }: Shared, now: Date): Promise<readonly DomainShare[]> {
    const rows = await this.db
      .selectFrom('domain_shares')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('domain_id', '=', id)
      .where('ends_at', '>', toMillis(now))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(mostShares)
      .execute();
    return rows.map(fromRow);
  }

  async find(secretHash: string, now: Date): Promise<DomainShare | undefined> {
    const row = await this.db
      .selectFrom('domain_shares')
      // Version 1.0.0 removes a domain without its links.
      .innerJoin('domains', 'domains.id', 'domain_shares.domain_id')
      .selectAll('domain_shares')
      .where('domain_shares.secret_hash', '=', secretHash)
      .where('domain_shares.ends_at', '>', toMillis(now))
      .where('domains.attached_host', 'is not', null)
      .executeTakeFirst();
    return row && fromRow(row);
  }
}

/** Within the transaction that removes the domain. */
export const forgetSharesOf = async (db: Queries, domainId: string): Promise<void> => {
  await db.deleteFrom('domain_shares').where('domain_id', '=', domainId).execute();
};

const toRow = ({ share, secretHash }: Required<ShareChange>['added']) =>
  ({
    id: share.id,
    account_id: share.accountId,
    domain_id: share.domainId,
    secret_hash: secretHash,
    created_at: toMillis(share.createdAt),
    ends_at: toMillis(share.endsAt),
  }) satisfies RowOf<DomainShare & { readonly secretHash: string }>;

const fromRow = (row: Selectable<Schema['domain_shares']>): DomainShare => ({
  id: row.id,
  accountId: row.account_id,
  domainId: row.domain_id,
  createdAt: fromMillis(row.created_at),
  endsAt: fromMillis(row.ends_at),
});
