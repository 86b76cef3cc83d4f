import { expect, test } from '@jest/globals';
import type { AuthorityFailureReason } from '../../src/sites/domain/certificate-order.ts';
import { secureSites } from '../../src/sites/use-cases/secure-sites.ts';
import { servedProject } from '../support/custom-domains.ts';
import { domainLab } from '../support/domain-lab.ts';
import { after, day, minute } from '../support/known-domains.ts';

test('each project gets a certificate for its own host, and custom domains get none of these', async () => {
  const lab = await domainLab();
  await lab.addLive();
  const { length: before } = lab.authority.log;
  const own = `${lab.project.slug}.sites.test`;
  expect(await secureSites(lab.ports)()).toBe(1);
  expect(lab.authority.log.slice(before).every((step) => step.endsWith(` ${own}`))).toBe(true);
  expect((await lab.ports.certificates.validities()).get(own)?.notAfter).toEqual(after(90 * day));
  expect(await secureSites(lab.ports)()).toBe(0);
  lab.clock.advance(60 * day);
  expect(await secureSites(lab.ports)()).toBe(1);
});

test.each<[AuthorityFailureReason, boolean]>([
  ['unavailable', true],
  ['rate_limited', true],
  ['challenge', false],
  ['order_gone', false],
])('an order that ended with %s goes on: %s', async (reason, isKept) => {
  const lab = await domainLab();
  const subject = `platform:${lab.project.slug}.sites.test`;
  lab.authority.failNext('look', { reason });
  expect(await secureSites(lab.ports)()).toBe(0);
  expect((await lab.ports.orders.find(subject)) !== undefined).toBe(isKept);
  expect(await secureSites(lab.ports)()).toBe(1);
  expect(lab.asked('order')).toBe(isKept ? 1 : 2);
  expect(await lab.ports.orders.find(subject)).toBeUndefined();
});

test('an authority that refuses a host is asked three times in an hour', async () => {
  const lab = await domainLab();
  const secure = secureSites(lab.ports);
  for (let minutes = 0; minutes < 60; minutes++) {
    lab.authority.failNext('look', { reason: 'challenge' });
    await secure();
    lab.clock.advance(minute);
  }
  expect(lab.asked('order')).toBe(3);
});

test.each<AuthorityFailureReason>(['rate_limited', 'unavailable'])(
  'an authority that is %s is not asked for the next host',
  async (reason) => {
    const lab = await domainLab();
    for (let n = 0; n < 3; n++) await servedProject(lab.stores);
    for (let n = 0; n < 4; n++) lab.authority.failNext('order', { reason });
    expect(await secureSites(lab.ports)()).toBe(0);
    expect(lab.asked('order')).toBe(1);
  },
);

test('orders for own hosts count among those of customers, and stop where these stop', async () => {
  const lab = await domainLab();
  for (let n = 0; n < 3; n++) await servedProject(lab.stores);
  const name = { host: 'cats.example', registrableDomain: 'cats.example' };
  const order = { ...name, kind: 'order', isManual: false, occurredAt: lab.clock.now() } as const;
  for (let n = 0; n < 248; n++) await lab.ports.ledger.record(order);
  expect(await secureSites(lab.ports)()).toBe(2);
  expect((await lab.ports.ledger.use(name, lab.clock.now())).orders.used).toBe(250);
  lab.clock.advance(3 * 60 * minute);
  expect(await secureSites(lab.ports)()).toBe(2);
});

test('whoever is told to stop begins with no further host', async () => {
  const lab = await domainLab();
  for (let n = 0; n < 3; n++) await servedProject(lab.stores);
  expect(await secureSites(lab.ports)(() => lab.asked('order') > 0)).toBe(1);
  expect(lab.asked('order')).toBe(1);
});
