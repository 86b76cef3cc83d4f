import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive, validationMethods, pointFor } from '../lab/going-live.ts';
import { labIssuer } from '../lab/authority/pebble-lab.ts';
import type { Shop, ShownDomain } from '../lab/shop.ts';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, { ...clock.settings, ...(await newChallengeZone()) });
  shop = await lab.openShop('rex');
  await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const restAfterVerify = () => clock.advance(11);

/** All requests to the authority since `from` in its log. */
const askedSince = (from: number) => lab.gate.log.slice(from).map(({ line }) => line);

test("DNS content cannot send control sequences to an operator's terminal", async () => {
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
  const forbidden = `www.caa-${word}.test`;

  /** Replaces the records with the correct ones. */
  const point = (added: ShownDomain): void => {
    for (const { fqdn } of added.records) lab.zone.remove(fqdn);
    pointFor(lab, method, added);
  };

  test('the authority is not contacted while CAA forbids it, and the owner learns which record to change', async () => {
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
});
