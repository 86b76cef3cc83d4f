import { beforeEach, expect, test } from '@jest/globals';
import { mailReasons, type MailRequest } from '../../../src/access/domain/mail-request.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { later, newAccount, now } from '../../support/accounts.ts';
import { newHash } from '../../support/access/people.ts';
import { race } from '../../support/race.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';

const ids = new UuidIds();
const day = 24 * 60 * 60_000;

describeStores('requests for mail', (stores) => {
  const { mailRequests: requests } = stores;
  let email: string;
  beforeEach(async () => {
    email = `${ids.next('keeper')}@shop.example`;
    await stores.retention.sweep('mail_requests', later(1e12));
  });

  const requestOf = (draft: Partial<MailRequest> = {}): MailRequest => ({
    id: ids.next('mreq'),
    reason: 'sign_in',
    email,
    personId: undefined,
    askedAt: later(0),
    source: 'network:203.0.113.7',
    device: undefined,
    turn: 1,
    ...draft,
  });
  const added = async (draft: Partial<MailRequest> = {}): Promise<MailRequest> => {
    const request = requestOf(draft);
    await requests.add(request);
    return request;
  };
  const mailed = async (draft: Partial<MailRequest>, at: Date): Promise<void> => {
    const { id } = await added(draft);
    await requests.answer(id, at, () => Promise.resolve(true));
  };
  /** The times of earlier mails that count with this reason. */
  const before = async (reason: MailRequest['reason'], at: Date): Promise<readonly number[]> => {
    const { id } = await added({ reason });
    const found: Date[] = [];
    await requests.answer(id, at, (_request, mails) => {
      found.push(...mails.map(({ at: mailedAt }) => mailedAt));
      return Promise.resolve(false);
    });
    return found.map((one) => one.getTime() - now.getTime()).sort((one, other) => one - other);
  };
  const both = () => [requests, stores.secondProcess.mailRequests];

  test.each(mailReasons)(
    'a request with the reason %s is read back unchanged in every process',
    async (reason) => {
      const request = await added({ reason });
      const other = await added({ reason, personId: 'pers_mia', askedAt: later(5) });
      for (const those of both()) expect(await those.waiting(10)).toEqual([request, other]);
    },
  );

  testOnBoth(
    'requests are listed by turn and id, up to a limit, starting after any of them',
    async () => {
      const late = await added({ turn: 3 });
      const all = [await added(), await added(), await added({ turn: 2 }), late];
      const [first, second] = all;
      expect(await requests.waiting(2)).toEqual(all.slice(0, 2));
      expect(await requests.waiting(2, second)).toEqual(all.slice(2));
      expect(await requests.waiting(2, first)).toEqual(all.slice(1, 3));
    },
  );

  testOnBoth(
    'adding a request again changes nothing, before and after its mail was sent',
    async () => {
      const request = await added();
      await requests.add({ ...request, email: 'mallory@shop.example' });
      expect(await requests.waiting(10)).toEqual([request]);
      await requests.answer(request.id, now, () => Promise.resolve(true));
      await requests.add(request);
      expect(await requests.waiting(10)).toEqual([]);
    },
  );

  test.each([true, false])(
    'an answered request no longer waits (mail sent: %s)',
    async (isMailed) => {
      const { id } = await added();
      const other = await added();
      const seen: MailRequest[] = [];
      for (const those of [...both(), ...both()]) {
        await those.answer(id, now, (request) => {
          seen.push(request);
          return Promise.resolve(isMailed);
        });
      }
      expect(seen.map((one) => one.id)).toEqual([id]);
      for (const those of both()) expect(await those.waiting(10)).toEqual([other]);
    },
  );

  testOnBoth('when many answer a request at once in two processes, one succeeds', async () => {
    const { id } = await added();
    let answers = 0;
    await race(20, (n) =>
      both()[n % 2]!.answer(id, now, async () => {
        await stores.people.find('pers_nobody');
        answers += 1;
        return true;
      }),
    );
    expect(answers).toBe(1);
  });

  test('mails to an address are counted over a day, both kinds of link together', async () => {
    await mailed({ reason: 'sign_in' }, now);
    await mailed({ reason: 'new_password' }, later(1));
    await mailed({ reason: 'invitation' }, later(2));
    await mailed({ reason: 'password_changed' }, later(3));
    await mailed({ email: 'other@shop.example' }, later(4));
    expect(await before('sign_in', later(5))).toEqual([0, 1]);
    expect(await before('new_password', later(5))).toEqual([0, 1]);
    expect(await before('invitation', later(5))).toEqual([2]);
    expect(await before('password_changed', later(5))).toEqual([3]);
    expect(await before('sign_in', later(day))).toEqual([1]);
    expect(await before('sign_in', later(day + 1))).toEqual([]);
  });

  test('each counted mail and each waiting request names its requester', async () => {
    const device = { id: 'd'.repeat(32), personIds: [ids.next('pers'), ids.next('pers')] };
    const full = Array.from({ length: 8 }, () => ids.next('pers'));
    const asked = [
      { source: 'network:203.0.113.7', device: undefined },
      { source: 'network:2001:db8:1:2::/64', device },
      { source: `account:${ids.next('acct')}`, device: { ...device, personIds: full } },
    ];
    for (const [at, one] of asked.entries()) await mailed(one, later(at));
    const mails = await requests.mailed(email, 'new_password', later(5));
    const expected = asked.map((one, at) => ({ ...one, at: later(at) }));
    expect(mails.toSorted((one, other) => Number(one.at) - Number(other.at))).toEqual(expected);
    expect(await requests.mailed(email, 'invitation', later(5))).toEqual([]);
    const waiting = [await added(asked[1]), await added(asked[2])];
    expect(await requests.waiting(10)).toEqual(waiting);
  });

  test('a request that led to no mail is not counted', async () => {
    await before('sign_in', now);
    expect(await before('sign_in', now)).toEqual([]);
  });

  test('a request whose answer fails keeps waiting', async () => {
    const request = await added();
    const answering = requests.answer(request.id, now, () => Promise.reject(new Error('away')));
    await expect(answering).rejects.toThrow('away');
    for (const those of both()) expect(await those.waiting(10)).toEqual([request]);
    await requests.answer(request.id, now, () => Promise.resolve(true));
    expect(await requests.waiting(10)).toEqual([]);
  });

  test('an unknown request is not answered', async () => {
    await requests.answer('mreq_unknown', now, () => Promise.reject(new Error('asked')));
  });

  test('a link is stored together with the answer that contains it', async () => {
    const personId = (await stores.people.list(await newAccount(stores)))[0]!.id;
    const { id } = await added();
    const secretHash = newHash();
    await requests.answer(id, now, async () => {
      await stores.signInLinks.add(
        { secretHash, personId, endsAt: later(5), resetsPassword: true },
        [],
      );
      return true;
    });
    expect(await stores.signInLinks.personIdOf(secretHash, now)).toBe(personId);
  });

  testOnBoth('a sweep deletes requests made before a given time, answered or not', async () => {
    await mailed({ askedAt: later(1) }, later(1));
    const waiting = await added({ askedAt: later(2) });
    expect(await stores.retention.sweep('mail_requests', later(1))).toBe(0);
    expect(await stores.retention.sweep('mail_requests', later(2))).toBe(1);
    expect(await requests.waiting(10)).toEqual([waiting]);
    expect(await stores.retention.sweep('mail_requests', later(3))).toBe(1);
    expect(await requests.waiting(10)).toEqual([]);
  });
});

test.each(databaseKinds)('when an answer fails, nothing of it stays in %s', async (kind) => {
  const stores = await openStores(kind);
  const personId = (await stores.people.list(await newAccount(stores)))[0]!.id;
  const request = { id: 'mreq_1', reason: 'sign_in', email: 'mia@shop.example' } as const;
  const asked = { source: 'network:203.0.113.7', device: undefined, turn: 1 };
  await stores.mailRequests.add({ ...request, personId: undefined, askedAt: now, ...asked });
  const secretHash = newHash();
  const answering = stores.mailRequests.answer('mreq_1', now, async () => {
    await stores.signInLinks.add(
      { secretHash, personId, endsAt: later(5), resetsPassword: true },
      [],
    );
    throw new Error('killed');
  });
  await expect(answering).rejects.toThrow('killed');
  expect(await stores.signInLinks.personIdOf(secretHash, now)).toBeUndefined();
  expect(await stores.mailRequests.waiting(10)).toHaveLength(1);
  await stores.close();
});
