import { describe, expect, test } from '@jest/globals';
import {
  acceptPasskey,
  acceptStep,
  addApp,
  addPasskey,
  factorSince,
  hasFactor,
  mostPasskeys,
  noFactor,
  removeMethod,
  replaceRecoveryCodes,
  resetFactor,
  type SecondFactor,
  stepOf,
  stepsAround,
  useRecoveryCode,
} from '../../../src/access/domain/second-factor.ts';
import { isProven, proveSession, startSession } from '../../../src/access/domain/session.ts';

const now = new Date('2026-03-01T10:00:00Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const mia = { id: 'pers_1', accountId: 'acct_1' };
const about = { accountId: 'acct_1', occurredAt: now, personId: 'pers_1' };
const refused = expect.objectContaining({ code: 'factor_refused' });

const withApp = addApp(noFactor(mia.id), mia, { secret: 'GEZDGNBV', step: 7, now });
const key = { id: 'cred_1', name: 'Laptop', publicKey: 'key', counter: 0 };
const withKey = addPasskey(noFactor(mia.id), mia, { passkey: key, challengedAt: now, now });

test('the person has a factor from the first method on, until the last is removed', () => {
  const earlier = later(-1000);
  expect(factorSince({ factorSince: undefined }, withApp)).toBe(now);
  expect(factorSince({ factorSince: earlier }, withKey)).toBe(earlier);
  const removed = removeMethod(withApp.state, mia, { method: 'app', now });
  expect(factorSince({ factorSince: earlier }, removed)).toBeUndefined();
});

describe('an authenticator app', () => {
  test('is a second factor, and the code that sets it up counts as used', () => {
    expect(hasFactor(noFactor(mia.id))).toBe(false);
    expect(hasFactor(withApp.state)).toBe(true);
    expect(withApp.events).toEqual([{ type: 'second_factor_added', ...about, method: 'app' }]);
    expect(() => acceptStep(withApp.state, 7)).toThrow(refused);
  });

  test('accepts each code once, and no earlier one', () => {
    const { state } = acceptStep(withApp.state, 9);
    for (const step of [8, 9]) expect(() => acceptStep(state, step)).toThrow(refused);
    expect(acceptStep(state, 10).state.app?.lastStep).toBe(10);
    expect(() => acceptStep(noFactor(mia.id), 10)).toThrow(refused);
  });

  test('cannot be set up again with a code that was used', () => {
    const again = { secret: 'GEZDGNBV', step: 7, now };
    expect(() => addApp(withApp.state, mia, again)).toThrow('This app is set up already.');
    expect(addApp(withApp.state, mia, { ...again, secret: 'MFRGGZDF' }).state.app?.lastStep).toBe(
      7,
    );
  });

  test('may be half a minute fast or slow', () => {
    const step = stepOf(now);
    expect(stepsAround(now)).toEqual([step, step - 1, step + 1]);
    expect(stepOf(later(29_999))).toBe(step);
    expect(stepOf(later(30_000))).toBe(step + 1);
  });
});

describe('a passkey', () => {
  const shown = (challengedAt: Date, id = key.id) => ({
    passkey: { id, counter: 5 },
    challengedAt,
    now: later(60_000),
  });

  test('is a second factor that stores its counter and its last use', () => {
    const { state } = acceptPasskey(withKey.state, shown(later(1)));
    expect(state.passkeys).toEqual([{ ...key, counter: 5, createdAt: now, usedAt: later(60_000) }]);
  });

  test('is refused with a used challenge, or one older than a used one', () => {
    for (const ms of [0, -1]) {
      expect(() => acceptPasskey(withKey.state, shown(later(ms)))).toThrow(refused);
    }
    const { state } = acceptPasskey(withKey.state, shown(later(5)));
    expect(() => acceptPasskey(state, shown(later(5)))).toThrow(refused);
  });

  test('of another person is refused', () => {
    expect(() => acceptPasskey(withKey.state, shown(later(1), 'cred_2'))).toThrow(refused);
  });

  test('can be added once, up to ten in all', () => {
    const add = (factor: SecondFactor, id: string, ms: number) =>
      addPasskey(factor, mia, { passkey: { ...key, id }, challengedAt: later(ms), now }).state;
    const invalid = expect.objectContaining({ code: 'factor_invalid' });
    expect(() => add(withKey.state, key.id, 1)).toThrow(invalid);
    let factor = withKey.state;
    for (let n = 2; n <= mostPasskeys; n++) factor = add(factor, `cred_${n}`, n);
    expect(() => add(factor, 'cred_11', 11)).toThrow('the maximum');
  });
});

describe('recovery codes', () => {
  const { state } = replaceRecoveryCodes(withApp.state, mia, { recovery: ['a', 'b'], now });

  test('work once each, and are counted', () => {
    const used = useRecoveryCode(state, mia, { codeHash: 'a', now });
    expect(used.events).toEqual([{ type: 'recovery_code_used', ...about, left: 1 }]);
    expect(() => useRecoveryCode(used.state, mia, { codeHash: 'a', now })).toThrow(refused);
  });

  test('replace the old ones, and need a second factor', () => {
    const anew = replaceRecoveryCodes(state, mia, { recovery: ['c'], now }).state;
    expect(() => useRecoveryCode(anew, mia, { codeHash: 'b', now })).toThrow(refused);
    const without = () => replaceRecoveryCodes(noFactor(mia.id), mia, { recovery: ['c'], now });
    expect(without).toThrow(expect.objectContaining({ code: 'factor_invalid' }));
  });

  test('are deleted with the last method', () => {
    const { state: left, events } = removeMethod(state, mia, { method: 'app', now });
    expect([hasFactor(left), left.recovery]).toEqual([false, []]);
    expect(events).toEqual([{ type: 'second_factor_removed', ...about, method: 'app' }]);
    const again = () => removeMethod(left, mia, { method: 'app', now });
    expect(again).toThrow(expect.objectContaining({ code: 'factor_not_found' }));
  });
});

test('a reset by the operator removes all factors, and an old challenge still counts as used', () => {
  const { state, events } = resetFactor(withKey.state, mia, now);
  expect(state).toEqual({ ...noFactor(mia.id), challengedUntil: now });
  expect(events).toEqual([{ type: 'second_factor_reset', ...about }]);
  expect(resetFactor(noFactor(mia.id), mia, now).events).toEqual([]);
});

describe('a session', () => {
  const draft = {
    id: 'sess_1',
    personId: mia.id,
    browser: 'Firefox',
    network: '192.0.2.1',
    way: 'password',
  } as const;

  test('lasts ten minutes while it waits for the second factor, and twelve hours from then on', () => {
    const waiting = startSession({ ...draft, awaitsFactor: true }, now);
    expect(waiting.endsAt).toEqual(later(10 * 60_000));
    expect(proveSession(waiting, later(60_000))).toEqual({
      ...waiting,
      awaitsFactor: false,
      provenAt: later(60_000),
      endsAt: later(60_000 + 12 * 3_600_000),
    });
  });

  test.each([
    [0, true],
    [10 * 60_000 - 1, true],
    [10 * 60_000, false],
    [-1, false],
  ])('is fresh %d ms after the person proved their identity: %s', (ms, expected) => {
    expect(isProven({ provenAt: now }, later(ms))).toBe(expected);
    expect(isProven({ provenAt: undefined }, later(ms))).toBe(false);
  });

  test('does not last longer after it is confirmed', () => {
    const session = startSession(draft, now);
    expect(proveSession(session, later(5)).endsAt).toEqual(session.endsAt);
  });
});
