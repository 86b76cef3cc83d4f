import type { Selectable } from 'kysely';
import type { AuthorityAccounts, AuthorityAccount } from '../../../domains/certificate-ports.ts';
import { SealingStore } from '../store.ts';
import { failureOf } from '../engine/failure.ts';
import type { Schema } from '../schema.ts';
import { openColumns, sealedColumns } from '../sealed-columns.ts';

export class KyselyAuthorityAccounts extends SealingStore implements AuthorityAccounts {
  readonly #find = this.database.prepare<
    { directoryUrl: string },
    Selectable<Schema['authority_accounts']>
  >((db, the) =>
    db
      .selectFrom('authority_accounts')
      .selectAll()
      .where('directory_url', '=', the('directoryUrl')),
  );

  async find(directoryUrl: string): Promise<AuthorityAccount | undefined> {
    const [row] = await this.#find({ directoryUrl });
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
    };
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
