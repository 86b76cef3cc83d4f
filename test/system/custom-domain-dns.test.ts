import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { caPlaces } from '../lab/authority/gate-faults.ts';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive } from '../lab/going-live.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import { until } from '../support/until.ts';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let rival: Shop;
let visitor: SecureVisitor;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, clock.settings);
  [shop, rival] = await Promise.all([lab.openShop('rex'), lab.openShop('max')]);
  await lab.start();
  visitor = await lab.visitor();
  await lab.settle(shop, rival);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

/** Before that the owner may not ask again. */
const restAfterVerify = () => clock.advance(11);

/** All requests to the authority since `from` of its log. */
const askedSince = (from: number) => lab.gate.log.slice(from).map(({ line }) => line);

test('a wrong record is explained in words and in JSON, and the right one is found automatically', async () => {
  const host = 'www.wrong.test';
  const { records } = await shop.add(host);
  lab.zone.set(host, { CNAME: ['parking.wrong.test'] });
  // The second command comes too early, however long they take.
  await clock.stop();
  expect(await shop.verify(host)).toMatchObject({
    domain: { state: 'added' },
    problems: [
      {
        code: 'cname_wrong_target',
        severity: 'blocking',
        actor: 'customer',
        seen: expect.stringContaining('parking.wrong.test'),
        wanted: expect.stringContaining(records[0].value),
      },
    ],
  });
  const [again, told, nothing] = await Promise.all([
    shop.tell('verify', host),
    shop.tell('show', host),
    shop.tell('show'),
  ]);
  expect(again).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/Try again in/),
  });
  expect(told).toMatchObject({ code: 0, stderr: '' });
  for (const words of ['added, awaiting DNS', 'cname_wrong_target', 'parking.wrong.test']) {
    expect(told.stdout).toContain(words);
  }
  expect(nothing.code).toBe(2);

  lab.zone.set(host, { CNAME: [records[0].value] });
  await clock.advance(70);
  await goLive({ lab, clock }, host);
  expect(await visitor.get(host)).toMatchObject({ status: 200, body: '<h1>rex</h1>\n' });
});

test('a domain that is removed and added again is not verified by the old record', async () => {
  const host = 'www.wrong.test';
  const removed = await shop.remove(host);
  const { domain } = await shop.add(host);
  expect(domain.id).not.toBe(removed.domain.id);
  expect(domain.token).not.toBe(removed.domain.token);
  await restAfterVerify();
  expect(await shop.verify(host)).toMatchObject({
    domain: { state: 'added' },
    problems: [{ code: 'cname_wrong_target', seen: expect.stringContaining(removed.domain.token) }],
  });
  expect(await lab.facts.states(host)).toEqual(['removed', 'added']);
});

test('while CAA forbids it, the authority is not contacted, and the owner is told which record to change', async () => {
  const host = 'www.caa.test';
  const other = { tag: 'issue', value: 'ca.other.test' };
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
  lab.zone.set('caa.test', { CAA: [other] });
  const asked = lab.gate.log.length;
  const [problem] = (await shop.verify(host)).problems;
  expect(problem).toMatchObject({ code: 'caa_forbids_issuer', actor: 'customer' });
  expect(problem?.seen).toContain('caa.test');
  expect(problem?.seen).toContain('ca.other.test');
  expect(problem?.wanted).toContain(labIssuer);
  expect(askedSince(asked)).toEqual([]);

  lab.zone.set('caa.test', { CAA: [other, { tag: 'issue', value: labIssuer }] });
  await restAfterVerify();
  expect((await shop.verify(host)).problems).toEqual([]);
  await goLive({ lab, clock }, host);
});

test('proving a name takes it over: the old holder loses it at once, and both are never served', async () => {
  const host = 'www.caa.test';
  const { records } = await rival.add(host);
  lab.zone.set(host, { CNAME: [records[0].value] });
  expect(await rival.verify(host)).toMatchObject({
    domain: { state: 'added' },
    problems: [{ code: 'ownership_txt_missing' }],
  });
  expect((await visitor.get(host)).body).toBe('<h1>rex</h1>\n');

  lab.zone.create(records[1]);
  await restAfterVerify();
  const watch = watchHost(host);
  // The new certificate comes when the gap before it has been seen, however fast the authority is.
  const gap = Promise.withResolvers<undefined>();
  lab.gate.setFaults({ match: caPlaces.newOrder, held: gap.promise });
  expect(await rival.verify(host)).toMatchObject({ domain: { state: 'verified' } });
  const { domain: lost } = await shop.show(host);
  expect(lost).toMatchObject({ state: 'removed', reason: 'contested' });
  await watch.sees('refused');
  gap.resolve(undefined);
  await goLive({ lab, clock }, host);
  await watch.sees('<h1>max</h1>\n', 50);
  const seen = await watch.end();
  // Each certificate with what was served under it.
  expect(seen.map(({ body }) => body)).toEqual(['<h1>rex</h1>\n', 'refused', '<h1>max</h1>\n']);
  expect(new Set(seen.map(({ serial }) => serial)).size).toBe(3);
  expect(await lab.facts.privateKeys(host)).toBe(1);
});

/** Visits a host continuously. */
const watchHost = (host: string) => {
  const seen: { readonly body: string; readonly serial: string; times: number }[] = [];
  let isOver = false;
  const watch = async (): Promise<boolean> => {
    const visit = visitor.get(host).catch(() => ({ body: 'refused', serial: 'none' }));
    const { body, serial } = await visit;
    const last = seen.at(-1);
    if (last?.body === body && last.serial === serial) last.times += 1;
    else seen.push({ body, serial, times: 1 });
    return isOver;
  };
  const watching = until('it is watched for long enough', watch, 100_000);
  return {
    /** Waits until `body` was seen so many times in a row. */
    sees: (body: string, times = 1) =>
      until(`${body} is seen`, () => {
        const last = seen.at(-1);
        return last?.body === body && last.times >= times;
      }),
    /** @returns what was seen, in order */
    end: async () => {
      isOver = true;
      await watching;
      return seen;
    },
  };
};
