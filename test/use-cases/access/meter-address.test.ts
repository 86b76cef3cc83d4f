import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Access } from '../../../src/access/access.ts';
import { planLimits } from '../../../src/access/domain/quota.ts';
import type { ApiKeys, KeyMaterial } from '../../../src/access/ports.ts';
import { badKeyLimits } from '../../../src/access/use-cases/callers.ts';
import type { SettableClock } from '../../support/settable-clock.ts';
import { accessLabs } from '../../support/access/access-lab.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const accessLab = accessLabs();
const start = new Date('2026-03-01T10:00:30Z');
const minute = 60_000;

let face: Access;
let clock: SettableClock;
beforeEach(async () => {
  ({ face, clock } = await accessLab(start, {
    apiKeys: mustNotBeUsed<ApiKeys>('apiKeys'),
    keyMaterial: mustNotBeUsed<KeyMaterial>('keyMaterial'),
  }));
});

const knock = async (times: number, wrongKey = false, address = '203.0.113.7') => {
  const verdicts = [];
  for (let n = 0; n < times; n++) verdicts.push(await face.meterAddress(address, wrongKey));
  return verdicts;
};
const allowedOf = (verdicts: readonly { readonly kind: string }[]) =>
  verdicts.filter(({ kind }) => kind === 'allowed').length;

describe('an address without a key', () => {
  test('has the limits of the plan Free, separately for each address', async () => {
    const verdicts = await knock(70);
    expect(allowedOf(verdicts)).toBe(60);
    expect(verdicts.at(-1)).toMatchObject({
      kind: 'refused',
      limits: planLimits.free,
      speaks: { window: 'minute', limit: 60, remaining: 0 },
    });
    expect(allowedOf(await knock(1, false, '203.0.113.8'))).toBe(1);
  });

  test('is refused for the day after a thousand requests', async () => {
    let allowed = 0;
    for (let n = 0; n < 20; n++) {
      allowed += allowedOf(await knock(60));
      clock.advance(minute);
    }
    expect(allowed).toBe(1000);
    expect(await knock(1)).toMatchObject([{ kind: 'refused', speaks: { window: 'day' } }]);
  });

  test('that only asks for its remaining quota uses nothing', async () => {
    await knock(2);
    for (let n = 0; n < 5; n++) {
      const left = { kind: 'allowed', speaks: { window: 'minute', remaining: 58 } };
      expect(await face.peekAddress('203.0.113.7')).toMatchObject(left);
    }
    expect(await knock(1)).toMatchObject([{ speaks: { remaining: 57 } }]);
  });

  test('gets with its last request the answer that nothing is left', async () => {
    await knock(60);
    expect(await face.peekAddress('203.0.113.7')).toMatchObject({ speaks: { remaining: 0 } });
  });
});

describe('an address with wrong keys', () => {
  test('may present twenty in a minute, and the 21st is refused', async () => {
    const verdicts = await knock(22, true);
    expect(allowedOf(verdicts)).toBe(20);
    expect(verdicts[19]).toMatchObject({ limits: planLimits.free, speaks: { remaining: 40 } });
    const reset = { window: 'minute', limit: 20, remaining: 0 };
    expect(verdicts[20]).toMatchObject({ kind: 'refused', limits: badKeyLimits, speaks: reset });
    clock.advance(minute);
    expect(allowedOf(await knock(21, true))).toBe(20);
  });

  test('keeps its remaining requests without a key, and other addresses keep theirs', async () => {
    await knock(30, true);
    expect(allowedOf(await knock(60))).toBe(40);
    expect(allowedOf(await knock(30, true, '203.0.113.8'))).toBe(20);
  });

  test('is refused like any other when its requests are used up', async () => {
    await knock(60);
    expect(await knock(1, true)).toMatchObject([{ kind: 'refused', limits: planLimits.free }]);
  });
});
