import { beforeEach, expect } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { AuthorityAccount } from '../../../src/domains/certificate-ports.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();

describeStores('accounts at authorities', (stores) => {
  const { authorityAccounts: accounts } = stores;
  let directory: string;
  beforeEach(() => {
    directory = `https://ca.test/${ids.next('dir')}`;
  });

  const processes = () => [accounts, stores.secondProcess.authorityAccounts] as const;
  const process = (n: number) => processes()[n % 2] ?? accounts;
  const newAccount = (): AuthorityAccount => {
    const url = `https://ca.test/${ids.next('acct')}/${'x'.repeat(800)}`;
    return { url, privateKey: `${ids.next('key')}${'+/=\n'.repeat(1000)}` };
  };
  const expectKept = async (account: AuthorityAccount | undefined) => {
    for (const reader of processes()) expect(await reader.find(directory)).toEqual(account);
  };

  testOnBoth(
    'each process reads an account as it was saved, for its own authority only',
    async () => {
      const [mine, theirs] = [newAccount(), newAccount()];
      await expectKept(undefined);
      await accounts.save(directory, mine);
      await accounts.save(`${directory}/2`, theirs);
      await expectKept(mine);
      expect(await accounts.find(directory.toUpperCase())).toBeUndefined();
      expect(await accounts.find(`${directory}/2`)).toEqual(theirs);
    },
  );

  testOnBoth('when twenty save an account at once, the first one stays', async () => {
    const { won, lost } = await race(20, async (n) => {
      const account = newAccount();
      await process(n).save(directory, account);
      return { account, found: await process(n).find(directory) };
    });
    expect(lost).toEqual([]);
    const kept = await accounts.find(directory);
    expect(won.map(({ account }) => account)).toContainEqual(kept);
    expect(won.map(({ found }) => found)).toEqual(Array(20).fill(kept));
    await accounts.save(directory, newAccount());
    await expectKept(kept);
  });

  test('an account is replaced only if the authority forgot it', async () => {
    const [first, second] = [newAccount(), newAccount()];
    await accounts.save(directory, first);
    await accounts.save(directory, newAccount(), `${first.url}/other`);
    await expectKept(first);
    await accounts.save(directory, second, first.url);
    await expectKept(second);
    await accounts.save(directory, first, first.url);
    await expectKept(second);
  });

  testOnBoth('when twenty replace a forgotten account at once, the first one stays', async () => {
    const lostOne = newAccount();
    await accounts.save(directory, lostOne);
    const { won, lost } = await race(20, async (n) => {
      const account = newAccount();
      await process(n).save(directory, account, lostOne.url);
      return { account, found: await process(n).find(directory) };
    });
    expect(lost).toEqual([]);
    const kept = await accounts.find(directory);
    expect(won.map(({ account }) => account)).toContainEqual(kept);
    expect(won.map(({ found }) => found)).toEqual(Array(20).fill(kept));
  });

  test('nothing is replaced without a stored account', async () => {
    await accounts.save(directory, newAccount(), 'https://ca.test/acct/1');
    await expectKept(undefined);
  });
});
