import { beforeEach, expect } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { endShare, mostShares, shareDomain } from '../../../src/domains/domain/attachment/share.ts';
import { newHash } from '../../support/access/people.ts';
import { later, newAccount, now, takeEvents } from '../../support/accounts.ts';
import { newDomain, remove, servedProject } from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { describeStores, test, testOnBoth } from '../../support/store-contracts.ts';

const ids = new UuidIds();
const days = (count: number): Date => later(count * 86_400_000);

describeStores('links to domains', (stores) => {
  let domain: CustomDomain;
  beforeEach(async () => {
    domain = await newDomain(stores, await servedProject(stores));
    await takeEvents(stores);
  });

  const make = async (at = later(0), through = stores.shares, secretHash = newHash()) => {
    const draft = { id: ids.next('share'), secretHash, now: at };
    const { added } = await through.change(domain, at, (one, current) =>
      shareDomain(one, current, draft),
    );
    return added;
  };
  const both = () => [stores.shares, stores.secondProcess.shares];

  test('a link is found by the hash of its secret in every process, until it ends', async () => {
    const { share, secretHash } = await make();
    for (const shares of both()) {
      expect(await shares.find(secretHash, now)).toEqual(share);
      expect(await shares.find(secretHash, new Date(days(30).getTime() - 1))).toEqual(share);
      expect(await shares.find(secretHash, days(30))).toBeUndefined();
      for (const other of [secretHash.toUpperCase(), share.id, '', newHash()])
        expect(await shares.find(other, now)).toBeUndefined();
    }
  });

  test('the working links of a domain are listed for its own account only, the newest first', async () => {
    const [first, second] = [await make(), await make(later(5))];
    await make(days(-30));
    const other = await newDomain(stores, await servedProject(stores));
    for (const shares of both()) {
      expect(await shares.list(domain, later(5))).toEqual([second.share, first.share]);
      expect(await shares.list(other, now)).toEqual([]);
      const foreign = { id: domain.id, accountId: other.accountId };
      expect(await shares.list(foreign, now)).toEqual([]);
    }
  });

  test('a revoked link is gone, and the others stay', async () => {
    const [first, second] = [await make(), await make()];
    const { id } = first.share;
    const end = () =>
      stores.shares.change(domain, now, (one, all) => endShare(one, all, { id, now }));
    expect((await end()).ended).toBe(id);
    expect((await end()).ended).toBeUndefined();
    expect(await stores.shares.find(first.secretHash, now)).toBeUndefined();
    expect(await stores.shares.list(domain, now)).toEqual([second.share]);
    const told = (await takeEvents(stores)).map(({ type }) => type);
    expect(told).toEqual(['domain_shared', 'domain_shared', 'domain_share_ended']);
  });

  testOnBoth(
    'removing a domain removes its links, even one that is created meanwhile',
    async () => {
      const { secretHash } = await make();
      const late = newHash();
      await Promise.allSettled([
        stores.domains.change(domain.id, remove),
        make(now, stores.secondProcess.shares, late),
      ]);
      for (const hash of [secretHash, late])
        expect(await stores.shares.find(hash, now)).toBeUndefined();
      expect(await stores.shares.list(domain, now)).toEqual([]);
      await expect(make()).rejects.toMatchObject({ code: 'domain_wrong_state' });
    },
  );

  testOnBoth(
    'when twenty links are created at once, as many succeed as a domain may have',
    async () => {
      const processes = [stores.shares, stores.secondProcess.shares] as const;
      const { won, lost } = await race(20, (n) => make(now, processes[n % 2] ?? processes[0]));
      expect(won).toHaveLength(mostShares);
      expect(new Set(lost)).toEqual(new Set(['share_limit_reached']));
      expect(await stores.shares.list(domain, now)).toHaveLength(mostShares);
    },
  );

  test('an unknown domain or one of another account has no links', async () => {
    const accountId = await newAccount(stores);
    for (const foreign of [
      { id: domain.id, accountId },
      { id: 'dom_none', accountId },
    ]) {
      const change = stores.shares.change(foreign, now, () => ({ events: [] }));
      await expect(change).rejects.toMatchObject({ code: 'domain_not_found' });
    }
  });

  test('a change that fails stores nothing', async () => {
    const change = stores.shares.change(domain, now, () => {
      throw new Error('no');
    });
    await expect(change).rejects.toThrow('no');
    expect(await stores.shares.list(domain, now)).toEqual([]);
    expect(await takeEvents(stores)).toEqual([]);
  });

  test('links that have ended are deleted, and the others stay', async () => {
    const longAgo = days(-9000);
    const { share } = await make(longAgo);
    await make(days(-9001));
    expect(await stores.retention.sweep('domain_shares', share.endsAt)).toBe(1);
    expect(await stores.shares.list(domain, longAgo)).toEqual([share]);
    await stores.retention.sweep('domain_shares', days(-8000));
  });
});
