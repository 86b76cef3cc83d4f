import { beforeEach, expect, test } from '@jest/globals';
import type { AccessEvent } from '../../../src/access/domain/access-event.ts';
import { changePlan } from '../../../src/access/domain/account.ts';
import { changePassword, type Person } from '../../../src/access/domain/person.ts';
import { mostSessions, signInWays, type Session } from '../../../src/access/domain/session.ts';
import { later, newAccount, now, personDecision, takeEvents } from '../../support/accounts.ts';
import {
  letIn,
  newHash,
  newLink,
  sessionOf,
  signedInPerson,
  type KnownSession,
} from '../../support/access/people.ts';
import { race } from '../../support/race.ts';
import { describeStores, testOnBoth } from '../../support/store-contracts.ts';
import { openStores } from '../../support/stores.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { refusal, refuse } from '../../support/refusal.ts';

describeStores('sessions', (stores) => {
  const { sessions } = stores;
  let account: string;
  let person: Person;
  beforeEach(async () => {
    account = await newAccount(stores);
    person = (await stores.people.list(account))[0]!;
  });

  const started = (draft: Partial<Session> = {}, at = later(0)): Promise<KnownSession> =>
    letIn(stores, sessionOf(person.id, draft, at));
  const both = () => [sessions, stores.secondProcess.sessions];
  const revoked = (sessionId: string): readonly AccessEvent[] => [
    {
      type: 'session_revoked',
      accountId: account,
      occurredAt: now,
      personId: person.id,
      sessionId,
    },
  ];
  const listed = async (personId = person.id) => sessions.list(personId);

  test.each(signInWays)(
    'a session that began by %s is found by the hash of its secret in every process, with its person and account',
    async (way) => {
      const { state: keeper } = personDecision(account, {}, later(7));
      await stores.people.add({ state: keeper, events: [] });
      const others = [{ personId: 'pers_elsewhere', proof: newHash() }];
      const known = sessionOf(keeper.id, { way, browser: 'Sœurs 🦜', others });
      const { session, secretHash } = await letIn(stores, known);
      const joined = { ...keeper, joinedAt: session.startedAt };
      const holder = { session, person: joined, account: await stores.accounts.find(account) };
      for (const those of both()) {
        expect(await those.findBySecretHash(secretHash)).toEqual(holder);
        expect(await those.list(keeper.id)).toEqual([session]);
      }
    },
  );

  test('a session is found by the hash of its secret only', async () => {
    const { session, secretHash } = await started();
    for (const other of [secretHash.toUpperCase(), session.id, '', newHash()]) {
      expect(await sessions.findBySecretHash(other)).toBeUndefined();
    }
  });

  test('a session reflects changes to the person and the account at once, in every process', async () => {
    const { session, secretHash } = await started();
    expect(await sessions.findBySecretHash(secretHash)).toMatchObject({
      account: { plan: 'free' },
    });
    const { accounts, people } = stores.secondProcess;
    const limits = { perMinute: 7, perDay: 77 };
    const changed = await accounts.change(account, (its) =>
      changePlan(its, { plan: 'enterprise', requests: limits }, now),
    );
    await people.changePassword(person.id, session.id, (its) => changePassword(its, 'hash', now));
    const its = { ...person, passwordHash: 'hash', joinedAt: session.startedAt };
    const holder = { session, person: its, account: changed };
    for (const those of both()) expect(await those.findBySecretHash(secretHash)).toEqual(holder);
  });

  testOnBoth('the longest browser name is read back unchanged', async () => {
    const { session, secretHash } = await started({ browser: '🦜'.repeat(100) });
    expect(session.browser).toHaveLength(200);
    expect(await sessions.findBySecretHash(secretHash)).toMatchObject({ session });
  });

  testOnBoth(
    "a person's sessions are listed newest first, including those that are over",
    async () => {
      const [old, over] = [await started({}, later(-5)), await started({}, later(-1e12))];
      const [young, twin] = [await started({}, later(5)), await started({}, later(5))];
      const twins = [young, twin].sort((a, b) => (a.session.id > b.session.id ? -1 : 1));
      const others = await signedInPerson(stores, account);
      const expected = [...twins, old, over].map(({ session }) => session);
      expect(await listed()).toEqual(expected);
      expect(await listed(others.person.id)).toEqual([others.session]);
    },
  );

  testOnBoth("a person's fifty-first session ends the oldest one, never the new one", async () => {
    const first = await started({}, later(1));
    const all = await stores.together(async () => {
      const others = [];
      for (let n = 2; n <= mostSessions; n++) others.push(await started({}, later(n)));
      return others;
    });
    expect(await listed()).toHaveLength(mostSessions);
    // The time of a clock that was set back.
    const late = await started({}, later(0));
    const expected = [...all.toReversed(), late].map(({ session }) => session);
    expect(await listed()).toEqual(expected);
    expect(await sessions.findBySecretHash(first.secretHash)).toBeUndefined();
    const other = await signedInPerson(stores, account);
    expect(await listed(other.person.id)).toEqual([other.session]);
  });

  test('ending a session removes it in every process and stores its event, and other sessions stay', async () => {
    const [first, second] = [await started({}, later(1)), await started()];
    const events = revoked(first.session.id);
    await sessions.end(person.id, first.session.id, events);
    expect(await takeEvents(stores)).toEqual(events);
    for (const those of both()) {
      expect(await those.findBySecretHash(first.secretHash)).toBeUndefined();
      expect(await those.list(person.id)).toEqual([second.session]);
    }
  });

  test('a session of another person is not ended', async () => {
    const mine = await started();
    const theirs = await signedInPerson(stores, account);
    for (const [owner, id] of [
      [person.id, theirs.session.id],
      [theirs.person.id, mine.session.id],
      [person.id, mine.session.id.toUpperCase()],
      [person.id, 'sess_none'],
    ] as const) {
      const end = sessions.end(owner, id, revoked(id));
      await expect(end).rejects.toHaveProperty('code', 'session_not_found');
    }
    expect(await listed()).toEqual([mine.session]);
    expect(await listed(theirs.person.id)).toEqual([theirs.session]);
    expect((await takeEvents(stores)).map(({ type }) => type)).toEqual(['person_invited']);
  });

  testOnBoth('exactly one of twenty concurrent requests ends a session', async () => {
    const { session } = await started();
    const { won, lost } = await race(20, (n) =>
      both()[n % 2]!.end(person.id, session.id, revoked(session.id)),
    );
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(19).fill('session_not_found'));
    expect(await takeEvents(stores)).toEqual(revoked(session.id));
  });

  testOnBoth('a sweep deletes the sessions that ended before a given time', async () => {
    await stores.retention.sweep('sessions', later(1e12));
    const all = [await started({}, later(1)), await started(), await started({}, later(2))];
    const ends = all.map(({ session }) => session.endsAt).sort((a, b) => a.getTime() - b.getTime());
    expect(await stores.retention.sweep('sessions', ends[0]!)).toBe(0);
    expect(await stores.retention.sweep('sessions', ends[2]!)).toBe(2);
    expect(await listed()).toEqual([all[2]!.session]);
    expect(await stores.retention.sweep('sessions', new Date(ends[2]!.getTime() + 1))).toBe(1);
    expect(await listed()).toEqual([]);
  });

  testOnBoth('a sweep stops when the process ends, and a later one deletes the rest', async () => {
    const end = later(1e12);
    await stores.retention.sweep('sessions', end);
    for (const days of [1, 2, 3, 4, 5]) await started({}, later(days));
    let slices = 0;
    expect(await stores.retention.sweep('sessions', end, () => slices++ > 0)).toBe(3);
    expect(await stores.retention.sweep('sessions', end, () => true)).toBe(0);
    expect(await stores.retention.sweep('sessions', end)).toBe(2);
  });
});

test.each(databaseKinds)(
  'on %s, a session that cannot be stored does not use up its link',
  async (kind) => {
    const failing = (type: string) => (type === 'person_signed_in' ? refuse() : []);
    const stores = await openStores(kind, { subscribersOf: failing });
    const accountId = await newAccount(stores);
    const personId = (await stores.people.list(accountId))[0]!.id;
    const linkHash = await newLink(stores, personId);
    const proof = { way: 'link', linkHash } as const;
    const about = { accountId, occurredAt: now, personId };
    const events = [{ type: 'person_signed_in', ...about, way: 'link' }] as const;
    const starting = stores.sessions.start({ ...sessionOf(personId), proof, events });
    await expect(starting).rejects.toBe(refusal);
    expect(await stores.sessions.list(personId)).toEqual([]);
    expect(await stores.signInLinks.personIdOf(linkHash, now)).toBe(personId);
    await stores.close();
  },
);
