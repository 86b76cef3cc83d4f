import { beforeEach, expect } from '@jest/globals';
import { changePlan, type Account } from '../../../src/access/domain/account.ts';
import { plans } from '../../../src/access/domain/quota.ts';
import {
  accountDecision,
  keyDecision,
  later,
  now,
  personDecision,
  takeEvents,
} from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

describeStores('accounts', (stores) => {
  const { accounts } = stores;
  beforeEach(() => takeEvents(stores));

  const opened = async (draft: Partial<Account> = {}, at = later(0)): Promise<Account> => {
    const decision = accountDecision(draft, at);
    const { id } = decision.state;
    await accounts.open(decision, keyDecision(id), personDecision(id));
    return decision.state;
  };
  const expectNothingOf = async (id: string): Promise<void> => {
    expect(await accounts.find(id)).toBeUndefined();
    expect(await stores.apiKeys.list(id)).toEqual([]);
    expect(await stores.people.list(id)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  };
  const toPro = (account: Account) => changePlan(account, { plan: 'pro' }, now);

  testOnBoth.each(plans)('an account on the plan %s is read back unchanged', async (plan) => {
    const account = await opened({ plan });
    expect(await accounts.find(account.id)).toEqual(account);
  });

  testOnBoth('the longest name and address are read back unchanged', async () => {
    const email = `${'é'.repeat(64)}@${'é.'.repeat(87)}yy.example.shop`;
    const account = await opened({ name: '🦜'.repeat(50), email });
    expect(await accounts.find(account.id)).toEqual(account);
    expect(account.email).toBe(email);
  });

  testOnBoth('addresses that differ only by an accent belong to different accounts', async () => {
    const plain = await opened({ email: 'renee@accents.example' });
    const accented = await opened({ email: 'renée@accents.example' });
    expect(await accounts.find(plain.id)).toEqual(plain);
    expect(await accounts.find(accented.id)).toEqual(accented);
  });

  test('an account is opened together with its first key, first person and events', async () => {
    const account = accountDecision();
    const { id } = account.state;
    const [key, person] = [keyDecision(id), personDecision(id)];
    await accounts.open(account, key, person);
    expect(await stores.apiKeys.list(id)).toEqual([key.state.key]);
    expect(await stores.people.list(id)).toEqual([person.state]);
    const events = [...account.events, ...key.events, ...person.events];
    expect(await takeEvents(stores)).toEqual(events);
  });

  test('an address that has an account can open a second one without changing the first', async () => {
    const first = await opened();
    const people = await stores.people.list(first.id);
    const { email } = people[0]!;
    const second = accountDecision({ email: first.email });
    const { id } = second.state;
    const person = personDecision(id, { email });
    await accounts.open(second, keyDecision(id), person);
    expect(await accounts.find(first.id)).toEqual(first);
    expect(await stores.people.list(first.id)).toEqual(people);
    expect(await accounts.find(id)).toEqual(second.state);
    expect(await stores.people.listByEmail(email)).toHaveLength(2);
    expect(await stores.people.list(id)).toEqual([person.state]);
  });

  test('an account is not opened when its first key or person belongs to another account', async () => {
    for (const [keyOf, personOf] of [
      ['acct_nobody', undefined],
      [undefined, 'acct_nobody'],
    ]) {
      const account = accountDecision();
      const { id } = account.state;
      const [key, person] = [keyDecision(keyOf ?? id), personDecision(personOf ?? id)];
      const opening = accounts.open(account, key, person);
      await expect(opening).rejects.toHaveProperty('code', 'account_not_found');
      await expectNothingOf(id);
      expect(await stores.people.find(person.state.id)).toBeUndefined();
    }
  });

  testOnBoth('the list holds all accounts, oldest first', async () => {
    const young = await opened({}, later(3_600_000));
    const old = await opened({}, later(-3_600_000));
    const listed = await accounts.list();
    const found = listed.filter(({ id }) => [young.id, old.id].includes(id));
    expect(found).toEqual([old, young]);
    expect(listed).toEqual(
      listed.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime()),
    );
  });

  test('a change stores the new plan and its event, and leaves other accounts alone', async () => {
    const account = await opened();
    const other = await opened();
    await takeEvents(stores);
    const pro = { ...account, plan: 'pro' };
    expect(await accounts.change(account.id, toPro)).toEqual(pro);
    expect(await accounts.find(account.id)).toEqual(pro);
    expect(await accounts.find(other.id)).toEqual(other);
    expect(await takeEvents(stores)).toMatchObject([{ type: 'plan_changed', from: 'free' }]);
  });

  testOnBoth('the notices that an account got about its use are read back unchanged', async () => {
    const { id } = await opened();
    const removals = [{ operation: 'getPet', removedAt: later(9), step: 30 }];
    const warnings = { quota: { level: 'reached', resetsAt: later(5) }, removals } as const;
    await accounts.change(id, (its) => ({ state: { ...its, warnings }, events: [] }));
    expect(await accounts.find(id)).toMatchObject({ warnings });
  });

  test('custom limits are read back in full and removed when the plan changes', async () => {
    const { id } = await opened();
    const ownLimits = { perMinute: 1, perDay: 1_000_000_000 };
    const agreed = await accounts.change(id, (its) =>
      changePlan(its, { plan: 'enterprise', requests: ownLimits }, now),
    );
    expect(agreed).toMatchObject({ plan: 'enterprise', ownLimits });
    expect(await accounts.find(id)).toEqual(agreed);
    expect(await accounts.list()).toContainEqual(agreed);
    await accounts.change(id, toPro);
    expect(await accounts.find(id)).toEqual({ ...agreed, plan: 'pro', ownLimits: undefined });
  });

  test('an account that does not exist is not found and not changed', async () => {
    const { id } = await opened();
    for (const unknown of ['acct_nobody', id.toUpperCase()]) {
      expect(await accounts.find(unknown)).toBeUndefined();
      const change = accounts.change(unknown, refuse);
      await expect(change).rejects.toHaveProperty('code', 'account_not_found');
    }
  });

  test('a change that fails stores nothing', async () => {
    const account = await opened();
    await takeEvents(stores);
    await expect(accounts.change(account.id, refuse)).rejects.toBe(refusal);
    expect(await accounts.find(account.id)).toEqual(account);
    expect(await takeEvents(stores)).toEqual([]);
  });

  testOnBoth('twenty concurrent requests with one address open twenty accounts', async () => {
    const email = 'rivals@shop.example';
    const processes = [accounts, stores.secondProcess.accounts];
    const { won, lost } = await race(20, async (n) => {
      const account = accountDecision({ email });
      const { id } = account.state;
      const person = personDecision(id, { email });
      await (processes[n % 2] ?? accounts).open(account, keyDecision(id), person);
      return account.state;
    });
    expect(lost).toEqual([]);
    const ids = (those: readonly Account[]) => those.map(({ id }) => id).sort();
    expect(ids((await accounts.list()).filter((one) => one.email === email))).toEqual(ids(won));
    expect(await stores.people.listByEmail(email)).toHaveLength(20);
    expect(await takeEvents(stores)).toHaveLength(60);
  });

  testOnBoth('twenty concurrent changes to one plan record one event', async () => {
    const { id } = await opened();
    await takeEvents(stores);
    const processes = [accounts, stores.secondProcess.accounts];
    const { won } = await race(20, (n) => (processes[n % 2] ?? accounts).change(id, toPro));
    expect(won.map((account) => account.plan)).toEqual(Array(20).fill('pro'));
    expect(await takeEvents(stores)).toHaveLength(1);
  });
});
