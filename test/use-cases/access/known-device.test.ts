import { beforeEach, describe, expect, test } from '@jest/globals';
import { access, type Access } from '../../../src/access/access.ts';
import type { Person } from '../../../src/access/domain/person.ts';
import { signInLimits } from '../../../src/access/domain/session.ts';
import type { AccessPorts } from '../../../src/access/ports.ts';
import { openDevice } from '../../../src/access/use-cases/sign-in-attempts.ts';
import { MemoryQuotaCounters } from '../../../src/adapters/memory/memory-quota-counters.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { givePassword } from '../../support/access/people.ts';
import { codeOf, race } from '../../support/race.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:30Z');
const email = 'mia@shop.example';
const [password, other] = ['correct horse battery', 'staple of many words'];

let face: Access;
let ports: AccessPorts;
let clock: SettableClock;
let mia: Person;
beforeEach(async () => {
  ({ face, ports, clock } = await accessLab(start));
  mia = await newOwner('Zoo', password);
});

const newOwner = async (name: string, its: string): Promise<Person> => {
  const { account } = await face.createAccount({ name, email, plan: 'pro' });
  const [person] = await face.listPeople(account.id);
  await givePassword(ports, person!.id, await ports.passwords.hash(its));
  return person!;
};

const at = (n: number, device?: string) => {
  // Each in a different wide network.
  return { network: `198.${n}.100.1`, browser: 'Firefox', device };
};
const signIn = (from: ReturnType<typeof at>, its = password) =>
  face.signIn({ email, password: its }, from);
const signInUnder = (sealer: AesGcmSealer, from: ReturnType<typeof at>) =>
  access({ ...ports, sealer }).signIn({ email, password }, from);
const answerTo = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(() => 'let in', codeOf);
/** Wrong passwords, five from each network. */
const guesses = (times: number, device?: string) =>
  race(times, (n) => signIn(at(Math.floor(n / 5), device), `guess ${n}`));

/** More attempts from one network than it is allowed. */
const guessesFrom = (network: number) =>
  race(signInLimits.addressFromNetwork.perMinute + 5, (n) => signIn(at(network), `guess ${n}`));

describe('an attacker who guesses from one network or many', () => {
  test('does not lock out an owner in another network', async () => {
    const { lost } = await guesses(300);
    expect(lost).toEqual(Array(300).fill('sign_in_refused'));
    expect(await answerTo(signIn(at(100)))).toBe('let in');
  });

  test('is slowed down in each network', async () => {
    const { perMinute } = signInLimits.addressFromNetwork;
    const { lost } = await guessesFrom(200);
    expect(lost.filter((code) => code === 'sign_in_refused')).toHaveLength(perMinute);
    expect(await answerTo(signIn(at(200)))).toBe('too_many_sign_ins');
    clock.advance(30_000);
    expect(await answerTo(signIn(at(200)))).toBe('let in');
  });

  test.each([
    ['a /48', 4, (n: number) => `2001:db8:1:${(256 * n).toString(16)}::/64`],
    ['a /56', 2, (n: number) => `2001:db8:1:${n.toString(16)}::/64`],
    ['a /24', 8, (n: number) => `198.51.100.${n}`],
  ])(
    'gets only a few more guesses in %s, however many addresses it has',
    async (_, factor, networkOf) => {
      const { lost } = await race(200, (n) =>
        signIn({ ...at(0), network: networkOf(n) }, `guess ${n}`),
      );
      const tried = lost.filter((code) => code === 'sign_in_refused');
      expect(tried).toHaveLength(factor * signInLimits.addressFromNetwork.perMinute);
      expect(await answerTo(signIn(at(200)))).toBe('let in');
    },
  );

  test('never locks out a browser in which the owner has signed in', async () => {
    const { device } = await signIn(at(200));
    await guesses(500);
    // Even in the same network, guesses count for unknown browsers only.
    await guessesFrom(200);
    expect(await answerTo(signIn(at(200, device)))).toBe('let in');
    expect(await answerTo(signIn(at(201, device)))).toBe('let in');
  });
});

describe('a known browser', () => {
  test('is recognised after a sign-in by link or by password', async () => {
    const { secret } = await face.signInLinkFor(email);
    const { device } = await face.signInByLink(secret, at(1));
    await guessesFrom(2);
    expect(await answerTo(signIn(at(2, device)))).toBe('let in');
  });

  test('has its own limit of attempts a minute, and uses up no other', async () => {
    const { device } = await signIn(at(200));
    const { perMinute } = signInLimits.device;
    const { won, lost } = await race(perMinute + 5, (n) => signIn(at(n, device)));
    expect([won.length, lost]).toEqual([perMinute, Array(5).fill('too_many_sign_ins')]);
    expect(await answerTo(signIn(at(201)))).toBe('let in');
  });

  test('proves an address by a mailed link, but not by a link that was shown to somebody', async () => {
    const { secret, person } = await face.invite(mia.accountId, 'ben@shop.example');
    const shown = await face.signInByLink(secret, at(1));
    const known = (device: string) => openDevice(ports, device);
    expect(known(shown.device)).toMatchObject({ personIds: [person.id], provenIds: [] });
    const mailed = await face.signInLinkFor('ben@shop.example');
    const { device } = await face.signInByLink(mailed.secret, at(1, shown.device));
    expect(known(device)).toMatchObject({ personIds: [person.id], provenIds: [person.id] });
    const both = await signIn(at(1, device));
    expect(known(both.device)).toMatchObject({ provenIds: [mia.id, person.id] });
  });

  test('stays the same one at each sign-in', async () => {
    let { device } = await signIn(at(200));
    for (let n = 0; n < signInLimits.device.perMinute; n++) {
      ({ device } = await signIn(at(n, device)));
    }
    expect(await answerTo(signIn(at(99, device)))).toBe('too_many_sign_ins');
  });

  test('stays known during a rotation of the secret key, and afterwards if the person signed in meanwhile', async () => {
    const [oldKey, newKey] = [Buffer.from('the key before'), Buffer.from('the key from now on')];
    const { device } = await signInUnder(new AesGcmSealer(oldKey), at(200));
    const under = (sealer: AesGcmSealer, its: string) => openDevice({ sealer }, its)?.personIds;
    expect(under(new AesGcmSealer(newKey), device)).toBeUndefined();

    await guessesFrom(200);
    const both = new AesGcmSealer(newKey, [oldKey]);
    const later = await signInUnder(both, at(200, device));
    expect(under(new AesGcmSealer(newKey), later.device)).toEqual([mia.id]);
  });

  test('gives no extra attempts for the passwords of another account with the same address', async () => {
    const theirs = await newOwner('Birds', other);
    const { device, personId } = await signIn(at(1), other);
    expect(personId).toBe(theirs.id);
    await guessesFrom(1);
    expect(await answerTo(signIn(at(1, device), other))).toBe('let in');
    expect(await answerTo(signIn(at(1, device), password))).toBe('sign_in_refused');
    clock.advance(30_000);
    expect(await signIn(at(1, device), password)).toMatchObject({ personId: mia.id });
  });

  test.each([
    '',
    'x',
    'v1.',
    'v1.AAAA',
    'x'.repeat(5000),
    '{"id":"a","personIds":["pers_000003"]}',
  ])('cannot be forged: %j', async (device) => {
    await guessesFrom(200);
    expect(await answerTo(signIn(at(200, device)))).toBe('too_many_sign_ins');
  });

  test('is no longer valid for a person who was removed and invited again', async () => {
    await face.invite(mia.accountId, 'ben@shop.example');
    const { device } = await signIn(at(1));
    await face.dismiss(mia.accountId, mia.id);
    await guessesFrom(200);
    expect(await answerTo(signIn(at(200, device)))).toBe('too_many_sign_ins');
  });
});

test('trying many addresses does not create counters without limit', async () => {
  const counters = new MemoryQuotaCounters(100);
  const { face: small } = await accessLab(start, { counters });
  await race(400, (n) =>
    small.signIn({ email: `${n}@guess.example`, password }, at(Math.floor(n / 20))),
  );
  const kept = counters.takeChanges();
  expect(kept.length).toBeLessThanOrEqual(100);
  const restored = new MemoryQuotaCounters(10);
  restored.restore(kept);
  restored.putBack(kept);
  expect(restored.takeChanges()).toHaveLength(10);
});
