import type { AuthorityAccounts, AuthorityAccount } from '../../../domains/certificate-ports.ts';
import { SealingStore } from '../store.ts';
import { failureOf } from '../engine/failure.ts';
import type { RowOf } from '../schema.ts';
import { openColumns, sealedColumns } from '../sealed-columns.ts';

export class KyselyAuthorityAccounts extends SealingStore implements AuthorityAccounts {
  async find(directoryUrl: string): Promise<AuthorityAccount | undefined> {
    const row = await this.db
      .selectFrom('authority_accounts')
      .selectAll()
      .where('directory_url', '=', directoryUrl)
      .executeTakeFirst();
    return (
      row && {
        url: row.url,
        privateKey: openColumns(this.sealer, 'authority_accounts', directoryUrl, row),
      }
    );
  }

  async save(directoryUrl: string, account: AuthorityAccount, lostUrl?: string): Promise<void> {
    const { url, privateKey } = account;
    const row = {
      url,
      ...sealedColumns(this.sealer, 'authority_accounts', directoryUrl, privateKey),
    } satisfies RowOf<AuthorityAccount>;
    if (lostUrl !== undefined) {
      await this.db
        .updateTable('authority_accounts')
        .set(row)
        .where('directory_url', '=', directoryUrl)
        .where('url', '=', lostUrl)
        .execute();
      return;
    }
    try {
      await this.db
        .insertInto('authority_accounts')
        .values({ directory_url: directoryUrl, ...row })
        .execute();
    } catch (error) {
      if (failureOf(error) !== 'duplicate') throw error;
    }
  }
}
