import { afterEach, expect, test } from '@jest/globals';
import type { AuthorityFailureReason } from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { LedgerEntry } from '../../../src/domains/domain/certificates/ca-budget.ts';
import {
  secureSites,
  sitesDueAt,
  showOwnHold,
} from '../../../src/domains/use-cases/secure-sites.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import { closeLabs, domainLab } from '../../support/domains/domain-lab.ts';
import { after, day, minute } from '../../support/domains/known-domains.ts';
import { newProject } from '../../support/sites/sites.ts';

afterEach(closeLabs);

test('each project gets a certificate for its platform host, and custom domains do not', async () => {
  const lab = await domainLab();
  await lab.addLive();
  const { length: before } = lab.authority.log;
  const own = `${lab.project.slug}.sites.test`;
  expect(await secureSites(lab.ports)()).toBe(1);
  expect(lab.authority.log.slice(before).every((step) => step.endsWith(` ${own}`))).toBe(true);
  expect((await lab.ports.ownNames.find(own))?.certificate).toMatchObject({
    notAfter: after(90 * day),
  });
  expect(await secureSites(lab.ports)()).toBe(0);
  lab.clock.advance(60 * day);
  expect(await secureSites(lab.ports)()).toBe(1);
});

test('the time of the next due certificate is known: at once for a new host, then its renewal', async () => {
  const lab = await domainLab();
  const dueAt = sitesDueAt(lab.ports);
  expect((await dueAt())!.getTime()).toBeLessThanOrEqual(lab.clock.now().getTime());
  await secureSites(lab.ports)();
  lab.clock.set((await dueAt())!);
  expect(await secureSites(lab.ports)()).toBe(1);
  await servedProject(lab.stores);
  expect((await dueAt())!.getTime()).toBeLessThanOrEqual(lab.clock.now().getTime());
  expect(await sitesDueAt({ ...lab.ports, hasPlatformFiles: true })()).toBeUndefined();
});

test.each<[AuthorityFailureReason, boolean]>([
  ['unavailable', true],
  ['rate_limited', true],
  ['challenge', false],
  ['order_gone', false],
])('an order that ended with %s continues: %s', async (reason, isKept) => {
  const lab = await domainLab();
  const subject = `platform:${lab.project.slug}.sites.test:1`;
  lab.authority.failNext('look', { reason });
  expect(await secureSites(lab.ports)()).toBe(0);
  expect((await lab.ports.orders.find(subject)) !== undefined).toBe(isKept);
  lab.clock.advance(minute);
  expect(await secureSites(lab.ports)()).toBe(1);
  expect(lab.asked('order')).toBe(isKept ? 1 : 2);
  expect(await lab.ports.orders.find(subject)).toBeUndefined();
});

test.each<AuthorityFailureReason>(['rate_limited', 'unavailable'])(
  'a host is ordered less and less often while the authority answers no order request, but is %s',
  async (reason) => {
    const lab = await domainLab();
    const secure = secureSites(lab.ports);
    const asked: number[] = [];
    for (let minutes = 0; minutes < 280; minutes++) {
      lab.authority.failNext('order', { reason });
      const before = lab.asked('order');
      await secure();
      if (lab.asked('order') > before) asked.push(minutes);
      lab.clock.advance(minute);
    }
    expect(asked).toEqual([0, 1, 11, 111, 211]);
    const { accountId } = lab.project;
    const name = {
      authority: 'authority.test',
      accountId,
      host: 'cats.example',
      registrableDomain: 'cats.example',
    };
    expect((await lab.ports.ledger.use(name, lab.clock.now())).orders).toHaveLength(2);
  },
);

test.each<AuthorityFailureReason>(['rate_limited', 'unavailable'])(
  'an authority that is %s is not contacted for the next host',
  async (reason) => {
    const lab = await domainLab();
    for (let n = 0; n < 3; n++) await servedProject(lab.stores);
    for (let n = 0; n < 4; n++) lab.authority.failNext('order', { reason });
    expect(await secureSites(lab.ports)()).toBe(0);
    expect(lab.asked('order')).toBe(1);
    // The first host waits now, so the next one shows that the authority does not answer.
    expect(await secureSites(lab.ports)()).toBe(0);
    expect(lab.asked('order')).toBe(2);
  },
);

test('orders for platform hosts count together with those for custom domains, and share their limit', async () => {
  const lab = await domainLab();
  for (let n = 0; n < 3; n++) await servedProject(lab.stores);
  const name = {
    authority: 'authority.test',
    accountId: 'acct_cats',
    host: 'cats.example',
    registrableDomain: 'cats.example',
  };
  const order: LedgerEntry = {
    ...name,
    kind: 'order',
    orderKey: 'order',
    isManual: false,
    occurredAt: lab.clock.now(),
  };
  for (let n = 0; n < 198; n++) await lab.stores.edgeWriter.writeLedger({ entered: [order] });
  expect(await secureSites(lab.ports)()).toBe(2);
  expect((await lab.ports.ledger.use(name, lab.clock.now())).orders).toHaveLength(200);
  lab.clock.advance(3 * 60 * minute);
  expect(await secureSites(lab.ports)()).toBe(2);
});

test('after a stop, no further host is started', async () => {
  const lab = await domainLab();
  for (let n = 0; n < 3; n++) await servedProject(lab.stores);
  expect(await secureSites(lab.ports)(() => lab.asked('order') > 0)).toBe(1);
  expect(lab.asked('order')).toBe(1);
});

test("the hosts of one account use that account's share, and do not delay those of others", async () => {
  const lab = await domainLab();
  const many = [];
  for (let n = 0; n < 14; n++) many.push(await servedProject(lab.stores, lab.project.accountId));
  const other = await servedProject(lab.stores);
  expect(await secureSites(lab.ports)()).toBe(11);
  expect(await lab.ports.certificates.find(`${other.slug}.sites.test`)).toBeDefined();

  const holds = await Promise.all(
    [...many, other].map(async ({ slug }) => {
      return (await showOwnHold(lab.ports)(await ownProject(lab, slug)))?.reason;
    }),
  );
  expect(holds.filter((reason) => reason === 'accountHour')).toHaveLength(5);
  expect(holds.at(-1)).toBeUndefined();
  expect(await sitesDueAt(lab.ports)()).toEqual(after(60 * minute));
  lab.clock.advance(60 * minute);
  expect(await secureSites(lab.ports)()).toBe(5);
  lab.clock.advance(60 * day);
  expect(await secureSites(lab.ports)()).toBe(16);
});

test('a host that failed is reported with the time of its next attempt', async () => {
  const lab = await domainLab();
  lab.authority.failNext('look', { reason: 'challenge' });
  await secureSites(lab.ports)();
  const project = await ownProject(lab, lab.project.slug);
  expect(await showOwnHold(lab.ports)(project)).toEqual({
    reason: 'ownHost',
    nextAt: after(minute),
  });
});

test('a host that is not waiting, or is not served yet, is not reported as delayed', async () => {
  const lab = await domainLab();
  const show = showOwnHold(lab.ports);
  const unserved = await newProject(lab.stores, lab.project.accountId);
  for (const { slug } of [lab.project, unserved])
    expect(await show(await ownProject(lab, slug))).toBeUndefined();
});

const ownProject = async ({ ports }: Awaited<ReturnType<typeof domainLab>>, slug: string) => {
  const { project, servedDeployId } = (await ports.projects.find(slug))!;
  return { ...project, servedDeployId };
};
