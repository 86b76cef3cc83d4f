import { describe, expect, test } from '@jest/globals';
import { ScriptedAuthority } from '../../support/domains/scripted-authority.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import {
  challengeUrlOf,
  placed,
  takeTo,
  takeToCertificate,
} from './certificate-authority-steps.ts';
import { certificateOrdersContract } from './certificate-authority.contract.ts';

const open = () => {
  const published = new Map<string, string>();
  const authority = new ScriptedAuthority({
    clock: new SettableClock(new Date('2026-03-01T12:00:00Z')),
    expects: (host) => host.endsWith('.customer.test'),
    visit: (_host, token) => Promise.resolve(published.get(token)),
  });
  const publish = (token: string, its: string) => void published.set(token, its);
  return { authority, publish, close: () => Promise.resolve() };
};

describe('the scripted certificate authority', () => {
  certificateOrdersContract(() => Promise.resolve(open()));
});

test('an unexpected order fails the test', async () => {
  await expect(open().authority.order('shop.stranger.test')).rejects.toThrow('nobody expected');
});

test('a step fails once on request and does nothing', async () => {
  const { authority } = open();
  authority.failNext('order', { reason: 'rate_limited', retryAt: new Date(0) });
  const failure = { reason: 'rate_limited', detail: 'It is rate_limited.', retryAt: new Date(0) };
  expect(await authority.order('a.customer.test')).toEqual({
    ...{ kind: 'failed', failure, counts: true },
  });
  expect((await authority.order('a.customer.test')).kind).toBe('ordered');
  expect(authority.log).toEqual(['order a.customer.test', 'order a.customer.test']);
});

test('a step whose answer is lost still took effect', async () => {
  const opened = open();
  const { authority } = opened;
  const order = await placed(authority);
  expect((await takeTo(opened, order, 'ready')).kind).toBe('ready');
  authority.loseAnswer('finalize');
  expect((await authority.finalize(order)).kind).toBe('failed');
  expect((await authority.look(order)).kind).toBe('issued');
});

test('a host that does not show the answer fails its challenge', async () => {
  const { authority } = open();
  const order = await placed(authority);
  const url = await challengeUrlOf({ authority }, order);
  const checking = { kind: 'processing', askAgainAfterMs: 1000 };
  expect(await authority.prove(order, url)).toEqual(checking);
  expect(await authority.look(order)).toMatchObject({ failure: { reason: 'challenge' } });
});

test('forgotten orders are gone', async () => {
  const opened = open();
  const order = await placed(opened.authority);
  await takeToCertificate(opened, order);
  opened.authority.forgetOrders();
  expect(await opened.authority.look(order)).toMatchObject({ failure: { reason: 'order_gone' } });
});

test('a renewal window is the one that was suggested for that chain', async () => {
  const { authority } = open();
  const window = { start: new Date(1), end: new Date(2), askAgainAt: new Date(3) };
  authority.suggestRenewal('a chain', window);
  expect(await authority.renewalWindow('a chain')).toEqual(window);
  expect(await authority.renewalWindow('another chain')).toBeUndefined();
});
