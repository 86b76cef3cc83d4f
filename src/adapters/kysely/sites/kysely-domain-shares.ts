import { domainNotFound } from '../../../domains/domain/domains-error.ts';
import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import {
  mostShares,
  type DomainShare,
  type ShareChange,
} from '../../../domains/domain/attachment/share.ts';
import type { DomainShares } from '../../../domains/ports.ts';
import { type Queries, toMillis } from '../database.ts';
import { domainShares } from './tables.ts';
import { AggregateStore } from '../store.ts';
import { customDomainFrom } from './custom-domain-rows.ts';

type Shared = Pick<CustomDomain, 'id' | 'accountId'>;

export class KyselyDomainShares extends AggregateStore implements DomainShares {
  change<Change extends ShareChange>(
    domain: Shared,
    now: Date,
    decide: (domain: CustomDomain, open: readonly DomainShare[]) => Change,
  ): Promise<Change> {
    const { accountId, id } = domain;
    const lock = async () => {
      const row = await this.database.lock('domains', id);
      if (row?.account_id !== accountId) throw domainNotFound(id);
      return { current: customDomainFrom(row), open: await this.list(domain, now) };
    };
    return this.changing(
      lock,
      ({ current, open }) => decide(current, open),
      async ({ added, ended }, db) => {
        if (added) await db.insertInto('domain_shares').values(shareRow(added)).execute();
        if (ended === undefined) return;
        await db
          .deleteFrom('domain_shares')
          .where('account_id', '=', accountId)
          .where('domain_id', '=', id)
          .where('id', '=', ended)
          .execute();
      },
    );
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
    return rows.map(withoutSecret.read);
  }

  async find(secretHash: string, now: Date): Promise<DomainShare | undefined> {
    const row = await this.db
      .selectFrom('domain_shares')
      .innerJoin('domains', 'domains.id', 'domain_shares.domain_id')
      .innerJoin('projects', 'projects.id', 'domains.project_id')
      .innerJoin('accounts', 'accounts.id', 'projects.account_id')
      .selectAll('domain_shares')
      .where('domain_shares.secret_hash', '=', secretHash)
      .where('domain_shares.ends_at', '>', toMillis(now))
      .where('projects.deleted_at', 'is', null)
      .where('accounts.deleted_at', 'is', null)
      .executeTakeFirst();
    return row && withoutSecret.read(row);
  }
}

export const forgetSharesOf = async (db: Queries, domainId: string): Promise<void> => {
  await db.deleteFrom('domain_shares').where('domain_id', '=', domainId).execute();
};

const withoutSecret = domainShares.without('secretHash');

const shareRow = ({ share, secretHash }: Required<ShareChange>['added']) =>
  domainShares.write({ ...share, secretHash });
