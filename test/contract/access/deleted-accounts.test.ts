import { afterAll, beforeEach, expect } from '@jest/globals';
import { tables } from '../../../db/migrations/0001-foundation.ts';
import type { Column } from '../../../db/tables.ts';
import { deleteAccount, restoreAccount } from '../../../src/access/domain/account.ts';
import { startSession } from '../../../src/access/domain/session.ts';
import { belongings, forgetRowsOf } from '../../../src/adapters/kysely/belongings.ts';
import type { Database } from '../../../src/adapters/kysely/database.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { endsAt } from '../../../src/kernel/deletion.ts';
import {
  accountDecision,
  keyDecision,
  later,
  newAccount,
  now,
  personDecision,
  takeEvents,
} from '../../support/accounts.ts';
import { openDatabase } from '../../support/servers/databases.ts';
import { refuse } from '../../support/refusal.ts';
import { newProject } from '../../support/sites/sites.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();

let database: Database;

describeStores(
  'deleted accounts',
  (stores) => {
    let account: string;
    afterAll(() => database.close());
    beforeEach(async () => {
      account = await newAccount(stores);
    });

    const close = (id = account) => stores.accounts.change(id, (one) => deleteAccount(one, now));
    const restore = (id = account) => stores.accounts.change(id, (one) => restoreAccount(one, now));
    const end = (id = account) => stores.accounts.end(id, () => true);

    testOnBoth(
      'the keys of a deleted account are unknown to every process until the account is restored',
      async () => {
        const key = keyDecision(account);
        await stores.apiKeys.add(key);
        const { secretHash } = key.state;
        expect(await stores.apiKeys.findBySecretHash(secretHash)).toBeDefined();
        await close();
        for (const { apiKeys } of [stores, stores.secondProcess])
          expect(await apiKeys.findBySecretHash(secretHash)).toBeUndefined();
        await restore();
        for (const { apiKeys } of [stores, stores.secondProcess])
          expect(await apiKeys.findBySecretHash(secretHash)).toMatchObject({ key: key.state.key });
      },
    );

    testOnBoth('a deleted account gets no key, secret, person or project', async () => {
      const key = keyDecision(account);
      await stores.apiKeys.add(key);
      await close();
      for (const adding of [
        () => stores.apiKeys.add(keyDecision(account)),
        () => stores.apiKeys.rotate(key.state.key.id, 'f'.repeat(64), refuse),
        () => stores.people.add(personDecision(account, { email: 'late@shop.example' })),
        () => newProject(stores, account),
      ])
        await expect(adding()).rejects.toMatchObject({
          code: 'account_deleted',
          message: expect.stringContaining(`account restore --account ${account}`),
        });
    });

    testOnBoth(
      "deletion ends all sessions and links of the account's people, and none of other people",
      async () => {
        const other = await newAccount(stores);
        const opened: string[] = [];
        for (const accountId of [account, other]) {
          const [person] = await stores.people.list(accountId);
          const personId = person!.id;
          const hashes = ['a', 'b', 'c'].map((one) => `${one}${ids.next('h')}`.padEnd(64, '0'));
          const [first = '', second = '', secretHash = ''] = hashes;
          const link = { personId, endsAt: later(60_000), resetsPassword: true };
          await stores.signInLinks.add({ ...link, secretHash: first }, []);
          const session = startSession(
            {
              id: ids.next('sess'),
              personId,
              way: 'link',
              browser: 'Firefox',
              network: '192.0.2.1',
            },
            now,
          );
          const proof = { way: 'link', linkHash: first } as const;
          await stores.sessions.start({ session, secretHash, proof, events: [] });
          await stores.signInLinks.add({ ...link, secretHash: second }, []);
          opened.push(secretHash, second);
        }
        await close();
        const [session = '', link = '', othersSession = '', othersLink = ''] = opened;
        expect(await stores.sessions.findBySecretHash(session)).toBeUndefined();
        expect(await stores.signInLinks.personIdOf(link, now)).toBeUndefined();
        expect(await stores.sessions.findBySecretHash(othersSession)).toBeDefined();
        expect(await stores.signInLinks.personIdOf(othersLink, now)).toBeDefined();
      },
    );

    testOnBoth('a person with several accounts signs in to an active account first', async () => {
      const email = `${ids.next('pers')}@shop.example`;
      const open = async (at: number) => {
        const decision = accountDecision({ email }, later(at));
        const { id } = decision.state;
        await stores.accounts.open(
          decision,
          keyDecision(id),
          personDecision(id, { email }, later(at)),
        );
        return id;
      };
      const [oldest, younger] = [await open(1), await open(2)];
      const accounts = async () =>
        (await stores.people.listByEmail(email)).map(({ accountId }) => accountId);
      expect(await accounts()).toEqual([oldest, younger]);
      await close(oldest);
      expect(await accounts()).toEqual([younger, oldest]);
    });

    test('deleted accounts are due for removal once they can no longer be restored', async () => {
      await close();
      const due = async (at: Date) =>
        (await stores.accounts.deletedBefore(at, 1000)).map(({ id }) => id);
      expect(await due(now)).toContain(account);
      expect(await due(later(-1))).not.toContain(account);
      expect(await stores.accounts.firstEnd()).toEqual(endsAt(now));
      expect(await stores.accounts.end(account, () => false)).toBe(false);
      expect(await stores.accounts.find(account)).toMatchObject({ deletedAt: now });
    });

    testOnBoth(
      'an account is removed after its projects, and after all subscribers received its events',
      async () => {
        const { id } = await newProject(stores, account);
        expect(await end()).toBe(false);
        await stores.projects.end(id, now, () => [
          { type: 'project_ended', accountId: account, occurredAt: now, projectId: id, slug: 'a' },
        ]);
        expect(await end()).toBe(false);
        expect(await stores.accounts.find(account)).toBeDefined();
        await takeEvents(stores);
        expect([await end(), await end()]).toEqual([true, false]);
        expect(await stores.accounts.find(account)).toBeUndefined();
      },
    );

    testOnBoth(
      'removing an account deletes its rows from every table, and no rows of other accounts',
      async () => {
        const other = await newAccount(stores);
        const [made, kept] = [await fill(database, account), await fill(database, other)];
        await forgetRowsOf(database, 'projects', [made['projects'] ?? '']);
        await database.db
          .deleteFrom('projects')
          .where('id', '=', String(made['projects']))
          .execute();
        const before = await countsOf(Object.values(kept));
        const owned = Object.entries(belongings).filter(([, rule]) => typeof rule !== 'string');
        expect(Object.keys(before)).toEqual(expect.arrayContaining(owned.map(([table]) => table)));
        expect(await end()).toBe(true);
        expect(await countsOf(Object.values(made))).toEqual({});
        expect(await countsOf(Object.values(kept))).toEqual(before);
        const ledger = database.db
          .selectFrom('authority_ledger')
          .select('account_id')
          .orderBy('id');
        expect(await ledger.execute()).toEqual([{ account_id: 'ended' }, { account_id: other }]);
      },
    );

    /**
     * The number of rows of each table that contain one of the texts. Numbers are not searched, because
     * unrelated rows contain them too.
     */
    const countsOf = async (values: readonly (string | bigint)[]) => {
      const counts: Record<string, number> = {};
      for (const table of Object.keys(tables)) {
        const rows = await database.db
          .selectFrom(table as 'pets')
          .selectAll()
          .execute();
        const isNamed = (row: object) =>
          Object.values(row).some((value) => typeof value === 'string' && values.includes(value));
        const named = rows.filter(isNamed);
        if (named.length > 0) counts[table] = named.length;
      }
      return counts;
    };

    let number = 1n;
    const valueFor = ({ type, length = 40 }: Column): string | bigint => {
      number += 1n;
      return type === 'integer' ? number : ids.next('any').slice(0, length);
    };

    /** Adds a row to every table that belongs to an account. @returns the ids of the rows, and of the account */
    const fill = async (
      db: Database,
      accountId: string,
    ): Promise<Record<string, string | bigint>> => {
      const made: Record<string, string | bigint> = { accounts: accountId };
      for (const [table, rule] of Object.entries(belongings).reverse()) {
        const isLedger = table === 'authority_ledger';
        if (typeof rule === 'string' && !isLedger) continue;
        const { columns = {}, foreignKeys = {} } = tables[table] ?? {};
        const row = Object.fromEntries(
          Object.entries(columns)
            .filter(([, { type }]) => type !== 'assigned')
            .map(([name, column]) => [name, valueFor(column)]),
        );
        for (const [column, parent] of Object.values(foreignKeys)) row[column] = made[parent] ?? '';
        if ('account_id' in columns) row['account_id'] = accountId;
        if (typeof rule !== 'string') row[rule.by] = made[rule.of] ?? '';
        await db.db
          .insertInto(table as 'pets')
          .values(row as never)
          .execute();
        if (!('id' in columns)) continue;
        const last = db.db
          .selectFrom(table as 'pets')
          .select('id')
          .orderBy('id', 'desc');
        made[table] = row['id'] ?? (await last.executeTakeFirstOrThrow()).id;
      }
      return made;
    };
  },
  { onOpened: (url) => (database = openDatabase(url)) },
);
