import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { OrderState } from '../../../src/domains/domain/certificates/certificate-status.ts';
import { advanceOrder, type OrderSubject } from '../../../src/domains/use-cases/advance-order.ts';
import { closeLabs, domainLab, host, type DomainLab } from '../../support/domains/domain-lab.ts';

afterEach(closeLabs);

let lab: DomainLab;
let pauses: number[];
beforeEach(async () => {
  lab = await domainLab();
  pauses = [];
});

const pause = (milliseconds: number): Promise<void> => {
  pauses.push(milliseconds);
  return Promise.resolve();
};

const wanted: OrderSubject = {
  authority: 'authority.test',
  subject: 'domain:dom_1:1',
  proof: { method: 'http-01', label: 't1' },
  host,
  replaces: undefined,
  countAgain: () => Promise.resolve(undefined),
  isWanted: () => Promise.resolve(true),
};

const advance = (authority = lab.ports.authority, its: Partial<OrderSubject> = {}) =>
  advanceOrder({ ...lab.ports, authority, pause })({ ...wanted, ...its });

/** An authority with a constant state. */
const stuckIn = (state: OrderState): { authority: typeof lab.authority; looks: () => number } => {
  let looks = 0;
  const answer = () => {
    looks += 1;
    return Promise.resolve(state);
  };
  const authority = Object.assign(Object.create(lab.authority) as typeof lab.authority, {
    order: () =>
      Promise.resolve({ kind: 'ordered' as const, url: 'https://ca.test/1', isExempt: false }),
    newPrivateKey: () => Promise.resolve('key'),
    look: answer,
    prove: answer,
    finalize: answer,
  });
  return { authority, looks: () => looks };
};

test('an order is polled at the interval that the authority requests', async () => {
  const outcome = await advance();
  expect(outcome).toMatchObject({ kind: 'issued', certificate: { host } });
  expect(lab.authority.log.map((step) => step.split(' ')[0])).toEqual([
    ...['order', 'look', 'prove', 'look', 'finalize', 'look'],
  ]);
  expect(pauses).toEqual([1000, 1000]);
});

test('the next worker continues with the same order and key', async () => {
  const first = await advance();
  expect(await advance()).toEqual(first);
  expect([lab.asked('order'), lab.asked('finalize')]).toEqual([1, 1]);
});

test('an order that is no longer needed is dropped without contacting the authority', async () => {
  const isWanted = () => Promise.resolve(false);
  expect(await advance(undefined, { isWanted })).toEqual({ kind: 'unwanted' });
  expect(lab.authority.log).toEqual([]);
  expect(await lab.ports.orders.find(wanted.subject)).toBeUndefined();
});

test.each([
  ['that takes a few seconds', { kind: 'processing', askAgainAfterMs: 1000 }, 20],
  ['that takes long', { kind: 'processing', askAgainAfterMs: 3001 }, 1],
  ['that stays ready forever', { kind: 'ready' }, 40],
] as const)('an order %s is left for the next scheduled run', async (_, state, most) => {
  const { authority, looks } = stuckIn(state);
  expect(await advance(authority)).toMatchObject({ kind: 'processing' });
  expect(looks()).toBeLessThanOrEqual(most + 1);
  expect(looks()).toBeGreaterThanOrEqual(most);
  expect(await lab.ports.orders.find(wanted.subject)).toMatchObject({ url: 'https://ca.test/1' });
});

test('all values of a challenge are published before the authority checks', async () => {
  const answerOf = (textValue: string) => ({ token: 't', keyAuthorization: 'k', textValue });
  const answers = [answerOf('one'), answerOf('two')] as const;
  const found: unknown[] = [];
  const challengeUrl = 'https://ca.test/1/challenge';
  const { authority } = stuckIn({ kind: 'challenge', answers, challengeUrl });
  authority.prove = async () => {
    found.push(
      (await lab.ports.dnsChallenges.valuesFor(['platform'], lab.clock.now())).get('platform'),
    );
    return { kind: 'processing', askAgainAfterMs: 60_000 };
  };
  await advance(authority, { proof: { method: 'dns-01', label: 'platform' } });
  expect(found).toEqual([['one', 'two']]);
});
