import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ordersOf } from '../lab/authority/ca-gate.ts';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive, validationMethods, pointFor } from '../lab/going-live.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import type { SecureVisitor } from '../lab/secure-visitor.ts';
import type { Shop, ShownDomain } from '../lab/shop.ts';
import { until } from '../support/until.ts';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let rival: Shop;
let visitor: SecureVisitor;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, { ...clock.settings, ...(await newChallengeZone()) });
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

test('what is in DNS cannot command the terminal of an operator', async () => {
  const host = 'terminal.test';
  await shop.add(host);
  lab.zone.set(`_animal-store-challenge.${host}`, { TXT: ['\u009b31m\u202e'] });
  lab.zone.set(host, { A: ['127.0.0.1'] });
  const { code, stdout } = await shop.tell('verify', host);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('31m') });
  expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  const machines = await shop.tell('show', host, '--json');
  expect(machines.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  expect(JSON.stringify(JSON.parse(machines.stdout))).toContain('\u009b31m');
  await shop.remove(host);
});

describe.each(validationMethods)('validated $way,', ({ word, method }) => {
  const wrong = `www.wrong-${word}.test`;
  const forbidden = `www.caa-${word}.test`;

  /** Creates the right records instead of those that are there. */
  const point = (added: ShownDomain): void => {
    for (const { fqdn } of added.records) lab.zone.remove(fqdn);
    pointFor(lab, method, added);
  };

  test('a wrong record is explained in words and in JSON, and the right one is found automatically', async () => {
    const host = wrong;
    const added = await shop.add(host);
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
          wanted: expect.stringContaining(added.records[0].value),
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

    point(added);
    await clock.advance(70);
    await goLive({ lab, clock }, host);
    expect(await visitor.get(host)).toMatchObject({ status: 200, body: '<h1>rex</h1>\n' });
  });

  test('while CAA forbids it, the authority is not contacted, and the owner is told which record to change', async () => {
    const host = forbidden;
    const domain = host.replace('www.', '');
    const other = { tag: 'issue', value: 'ca.other.test' };
    point(await shop.add(host));
    lab.zone.set(domain, { CAA: [other] });
    const asked = lab.gate.log.length;
    const [problem] = (await shop.verify(host)).problems;
    expect(problem).toMatchObject({ code: 'caa_forbids_issuer', actor: 'customer' });
    expect(problem?.seen).toContain(domain);
    expect(problem?.seen).toContain('ca.other.test');
    expect(problem?.wanted).toContain(labIssuer);
    expect(askedSince(asked)).toEqual([]);

    lab.zone.set(domain, { CAA: [other, { tag: 'issue', value: labIssuer }] });
    await restAfterVerify();
    expect((await shop.verify(host)).problems).toEqual([]);
    await goLive({ lab, clock }, host);
  });

  test('proving a name takes it over: the old holder loses it at once, and visitors get one site or the other without a gap', async () => {
    const host = forbidden;
    const { records } = await rival.add(host);
    lab.zone.set(host, { CNAME: [records[0].value] });
    expect(await rival.verify(host)).toMatchObject({
      domain: { state: 'added' },
      problems: [{ code: 'ownership_txt_missing' }],
    });
    expect((await visitor.get(host)).body).toBe('<h1>rex</h1>\n');

    const proof = method === 'dns-01' ? records.slice(2) : records.slice(1, 2);
    for (const { fqdn } of proof) lab.zone.remove(fqdn);
    lab.zone.create(...proof);
    await restAfterVerify();
    const watch = watchHost(host);
    await watch.sees('<h1>rex</h1>\n');
    expect(await rival.verify(host)).toMatchObject({ domain: { state: 'live' } });
    const { domain: lost } = await shop.show(host);
    expect(lost).toMatchObject({ state: 'removed', reason: 'contested' });
    await watch.sees('<h1>max</h1>\n', 50);
    const seen = await watch.end();
    // Under the certificate that was there.
    expect(seen.map(({ body }) => body)).toEqual(['<h1>rex</h1>\n', '<h1>max</h1>\n']);
    expect(new Set(seen.map(({ serial }) => serial)).size).toBe(1);
    expect(ordersOf(lab.gate, host)).toHaveLength(1);
    expect(await lab.facts.privateKeys(host)).toBe(1);
  });
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
  const watching = until('it is watched for long enough', watch);
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
