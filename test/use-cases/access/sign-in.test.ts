import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import type { Person } from '../../../src/access/domain/person.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import type { Invitation } from '../../../src/access/use-cases/people.ts';
import { PlainPasswords } from '../../support/plain-passwords.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import type { DomainEvent, StoredEvent } from '../../../src/kernel/decision.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { now } from '../../support/accounts.ts';
import { givePassword } from '../../support/access/people.ts';
import { codeOf, race } from '../../support/race.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:30Z');
const minute = 60_000;
const hour = 60 * minute;

const email = 'mia@shop.example';
const password = 'correct horse battery';

/** Records its comparisons. */
class WatchedPasswords extends PlainPasswords {
  readonly asked: (string | undefined)[] = [];
  /** Runs after the comparison, before the answer. */
  meanwhile: () => Promise<unknown> = () => Promise.resolve();

  override async matching(tried: string, hashes: readonly string[]): Promise<readonly string[]> {
    this.asked.push(...(hashes.length === 0 ? [undefined] : hashes));
    const answer = await super.matching(tried, hashes);
    await this.meanwhile();
    return answer;
  }
}

let face: Access;
let ports: AccessPorts;
let clock: SettableClock;
let happened: () => Promise<readonly DomainEvent[]>;
let stored: () => Promise<readonly StoredEvent[]>;
let passwords: WatchedPasswords;
let mia: Person;
/** Has no password. */
let ben: Person;
beforeEach(async () => {
  passwords = new WatchedPasswords();
  ({ face, ports, clock, happened, stored } = await accessLab(start, { passwords }));
  const { account } = await face.createAccount({ name: 'Zoo', email, plan: 'pro' });
  mia = (await face.listPeople(account.id))[0]!;
  const passwordHash = await passwords.hash(password);
  await givePassword(ports, mia.id, passwordHash);
  mia = { ...mia, passwordHash, joinedAt: now, provenAt: now };
  ben = (await face.invite(account.id, 'ben@shop.example')).person;
});

const from = { network: '203.0.113.7', browser: 'Firefox' };
const network = (n: number) => ({ ...from, network: `198.${n}.100.1` });
const signIn = (its: { email?: string; password?: string } = {}, origin = from) =>
  face.signIn({ email, password, ...its }, origin);
const answerTo = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(() => 'let in', codeOf);
/** The answer to a refused sign-in. */
const refusalOf = async (attempt: Promise<unknown>) => {
  const refusal = await attempt.catch((error: unknown) => error);
  const { code, message } = refusal as { readonly code?: string; readonly message?: string };
  return { code, message };
};
/** Signs in several times, one after the other. @returns the number of each answer */
const answers = async (times: number, attempt: (n: number) => Promise<unknown>) => {
  const counts: Record<string, number> = {};
  for (let n = 0; n < times; n++) {
    const answer = await answerTo(attempt(n));
    counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
};
const link = (): Promise<Invitation> => face.signInLinkFor(email);
const signedIn = async () => (await happened()).filter(({ type }) => type === 'person_signed_in');

describe('a person who signs in with e-mail and password', () => {
  test('gets a session of twelve hours, which is found by its secret', async () => {
    const { secret, device, ...session } = await signIn();
    expect(device).not.toContain(mia.id);
    const endsAt = new Date(start.getTime() + 12 * hour);
    const { id } = session;
    const its = { personId: mia.id, way: 'password', browser: 'Firefox' };
    expect(session).toEqual({
      id,
      ...its,
      others: [],
      resetsPassword: false,
      network: from.network,
      seenAt: start,
      provenAt: start,
      awaitsFactor: false,
      startedAt: start,
      endsAt,
    });
    const account = await ports.accounts.find(mia.accountId);
    expect(await face.findSession(secret)).toEqual({ session, person: mia, account });
    expect(secret).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(await ports.sessions.findBySecretHash(secret)).toBeUndefined();
  });

  test('is the actor in the audit log', async () => {
    await signIn();
    const about = { accountId: mia.accountId, occurredAt: start, personId: mia.id };
    expect(await signedIn()).toEqual([{ type: 'person_signed_in', ...about, way: 'password' }]);
    const actors = (await stored()).map(({ event, actor }) => [event.type, actor]);
    expect(actors).toContainEqual(['person_signed_in', `person:${email}`]);
    expect(actors).toContainEqual(['account_opened', 'service']);
  });
});

describe('a failed sign-in', () => {
  const wrong = () => ({
    unknown: { email: 'nobody@shop.example' },
    'without a password': { email: ben.email },
    mistyped: { password: `${password} ` },
    'empty password': { password: '' },
    'empty e-mail': { email: '' },
    'the hash itself': { password: mia.passwordHash! },
  });

  test('gets the same answer, whatever is wrong', async () => {
    const attempts = Object.values(wrong()).map((its, n) => signIn(its, network(n)));
    const told = await Promise.all(attempts.map(refusalOf));
    expect(told[0]?.code).toBe('sign_in_refused');
    expect(told).toEqual(told.map(() => told[0]));
    expect(await signedIn()).toEqual([]);
    expect(await face.listSessions(mia.id)).toEqual([]);
  });

  test.each([
    ['changed', () => givePassword(ports, mia.id, 'another hash')],
    ['removed with its person', () => face.dismiss(mia.accountId, mia.id)],
  ])('gets the same answer when the password is %s during the comparison', async (_, meanwhile) => {
    passwords.meanwhile = meanwhile;
    const refused = await refusalOf(signIn());
    passwords.meanwhile = () => Promise.resolve();
    expect(refused).toEqual(await refusalOf(signIn({ email: 'nobody@shop.example' })));
    expect(await face.listSessions(mia.id)).toEqual([]);
    expect(await signedIn()).toEqual([]);
  });

  test('takes the same work each time: one password comparison', async () => {
    for (const attempt of Object.values(wrong())) await answerTo(signIn(attempt));
    const { passwordHash } = mia;
    const [nobody, none, mistyped, empty, nameless, raw] = passwords.asked;
    expect([nobody, none, nameless]).toEqual([undefined, undefined, undefined]);
    expect([mistyped, empty, raw]).toEqual([passwordHash, passwordHash, passwordHash]);
    expect(passwords.asked).toHaveLength(6);
  });
});

describe('passwords for one address from one network', () => {
  test('may be tried five times a minute', async () => {
    const guess = (n: number) => signIn({ password: `guess ${n}` });
    expect(await answers(9, guess)).toEqual({ sign_in_refused: 5, too_many_sign_ins: 4 });
    await expect(signIn()).rejects.toThrow(
      'Try again in 30 seconds, or use a sign-in link, which works at once.',
    );
    expect(passwords.asked).toHaveLength(5);
    clock.advance(minute / 2 - 1);
    await expect(signIn()).rejects.toThrow('Try again in 1 second,');
    clock.advance(1);
    expect(await answerTo(signIn())).toBe('let in');
  });

  test('are counted whether they are right or wrong, however the address is written', async () => {
    const spellings = [email, 'MIA@shop.example', ` ${email}`];
    const attempt = (n: number) => signIn({ email: spellings[n % 3]! });
    expect(await answers(7, attempt)).toEqual({ 'let in': 5, too_many_sign_ins: 2 });
  });

  test('are counted for unknown people too', async () => {
    const guess = () => signIn({ email: 'nobody@shop.example' });
    expect(await answers(7, guess)).toEqual({ sign_in_refused: 5, too_many_sign_ins: 2 });
  });

  test('do not use up the attempts for other people or networks', async () => {
    await answers(6, () => signIn());
    expect(await answerTo(signIn({ email: ben.email }))).toBe('sign_in_refused');
    expect(await answerTo(signIn({}, network(1)))).toBe('let in');
  });

  test('may be tried a hundred times a day', async () => {
    const counts: Record<string, number> = {};
    for (let n = 0; n < 21; n++) {
      const some = await answers(5, () => signIn({ password: 'no' }));
      for (const [code, count] of Object.entries(some)) counts[code] = (counts[code] ?? 0) + count;
      clock.advance(minute);
    }
    expect(counts).toEqual({ sign_in_refused: 100, too_many_sign_ins: 5 });
    await expect(signIn()).rejects.toThrow('Try again in 14 hours,');
    expect(await answerTo(signIn({}, network(50)))).toBe('let in');
    clock.set(new Date('2026-03-02T00:00:00Z'));
    expect(await answerTo(signIn())).toBe('let in');
  });

  test('are limited exactly, however many arrive at once', async () => {
    const { won, lost } = await race(20, () => signIn());
    expect(won).toHaveLength(5);
    expect(lost).toEqual(Array(15).fill('too_many_sign_ins'));
  });
});

describe('one network', () => {
  const someone = (n: number) => ({ email: `guess-${n}@shop.example` });

  test('may try twenty times a minute for all people together, with passwords or links', async () => {
    const attempt = (n: number) =>
      n % 2 === 0 ? signIn(someone(n)) : face.signInByLink(`guess ${n}`, from);
    expect(await answers(24, attempt)).toEqual({
      sign_in_refused: 10,
      sign_in_link_invalid: 10,
      too_many_sign_ins: 4,
    });
    const { secret } = await link();
    expect(await answerTo(face.signInByLink(secret, from))).toBe('too_many_sign_ins');
    await expect(face.signInByLink(secret, from)).rejects.toThrow(
      /^Too many attempts to sign in from your network\. Try again in \d+ seconds?\.$/,
    );
    expect(await answerTo(face.signInByLink(secret, network(1)))).toBe('let in');
  });

  test("does not use up a person's attempts when it tries too often", async () => {
    await answers(20, (n) => signIn(someone(n)));
    expect(await answers(9, () => signIn())).toEqual({ too_many_sign_ins: 9 });
    expect(await answerTo(signIn({}, network(1)))).toBe('let in');
  });
});

describe('a sign-in link', () => {
  test('works once, and the session records that it began with a link', async () => {
    const { secret } = await link();
    const session = await face.signInByLink(secret, from);
    expect(session).toMatchObject({ personId: mia.id, way: 'link', browser: 'Firefox' });
    expect(await face.findSession(session.secret)).toMatchObject({ person: mia });
    const again = face.signInByLink(secret, from);
    await expect(again).rejects.toHaveProperty('code', 'sign_in_link_invalid');
    expect(await signedIn()).toMatchObject([{ personId: mia.id, way: 'link' }]);
  });

  test('gets the same answer when it is unknown, used or expired, or its person was removed', async () => {
    const [used, over] = [await link(), await link()];
    await face.signInByLink(used.secret, from);
    const gone = await face.invite(ben.accountId, ben.email);
    await face.dismiss(ben.accountId, ben.id);
    clock.advance(hour);
    const secrets = ['', 'unknown', used.secret, over.secret, gone.secret];
    const attempts = secrets.map((secret) => face.signInByLink(secret, from));
    const told = await Promise.all(attempts.map(refusalOf));
    expect(told[0]?.code).toBe('sign_in_link_invalid');
    expect(told).toEqual(told.map(() => told[0]));
  });

  test('works when no password attempts are left', async () => {
    await answers(6, () => signIn({ password: 'no' }));
    expect(await answerTo(face.signInByLink((await link()).secret, from))).toBe('let in');
  });
});

describe('a session', () => {
  test('is found until it ends, even while the clock is set back a little', async () => {
    const { secret, endsAt } = await signIn();
    for (const [at, isFound] of [
      [endsAt.getTime() - 1, true],
      [endsAt.getTime(), false],
      [start.getTime() - 12 * hour + 1, true],
      [start.getTime() - 12 * hour, false],
    ] as const) {
      clock.set(new Date(at));
      expect((await face.findSession(secret)) !== undefined).toBe(isFound);
    }
  });
});
