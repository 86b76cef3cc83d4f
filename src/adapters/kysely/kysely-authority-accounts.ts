import type { Sealer } from '../../kernel/sealer.ts';
import { AuthorityAccounts, type AuthorityAccount } from '../../sites/ports.ts';
import type { Database } from './database.ts';
import { failureOf } from './failure.ts';

export class KyselyAuthorityAccounts extends AuthorityAccounts {
  readonly #database: Database;
  readonly #sealer: Sealer;

  constructor(database: Database, sealer: Sealer) {
    super();
    this.#database = database;
    this.#sealer = sealer;
  }

  async find(directoryUrl: string): Promise<AuthorityAccount | undefined> {
    const row = await this.#database.run((db) =>
      db
        .selectFrom('authority_accounts')
        .selectAll()
        .where('directory_url', '=', directoryUrl)
        .executeTakeFirst(),
    );
    return (
      row && {
        url: row.url,
        privateKey: this.#sealer.open(row.private_key, purpose(directoryUrl)),
      }
    );
  }

  async save(directoryUrl: string, account: AuthorityAccount, lostUrl?: string): Promise<void> {
    const { url } = account;
    const privateKey = this.#sealer.seal(account.privateKey, purpose(directoryUrl));
    if (lostUrl !== undefined) {
      await this.#database.run((db) =>
        db
          .updateTable('authority_accounts')
          .set({ url, private_key: privateKey })
          .where('directory_url', '=', directoryUrl)
          .where('url', '=', lostUrl)
          .execute(),
      );
      return;
    }
    try {
      await this.#database.run((db) =>
        db
          .insertInto('authority_accounts')
          .values({ directory_url: directoryUrl, url, private_key: privateKey })
          .execute(),
      );
    } catch (error) {
      if (failureOf(error) !== 'duplicate') throw error;
    }
  }
}

const purpose = (directoryUrl: string): string => `account at ${directoryUrl}`;
