import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { finalizesOf, ordersOf, unanswered } from '../lab/authority/ca-gate.ts';
import {
  newChallengeZone,
  openDomainLab,
  platformHost,
  type DomainLab,
} from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import type { Shop } from '../lab/shop.ts';
import type { Service } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { type CaFault, caPlaces } from '../lab/authority/gate-caa.ts';

const wildcard = `*.${platformHost}`;
const record = `_acme-challenge.${platformHost}`;

const hang = { hang: true, times: 1 };
/** Where the process is killed, one after the other. With `after`, the authority has done its work. */
const stuck: readonly CaFault[] = [
  { match: caPlaces.newOrder, after: true, ...hang },
  { match: caPlaces.authorization, ...hang },
  { match: caPlaces.challenge, after: true, ...hang },
  { match: caPlaces.finalize, after: true, ...hang },
  { match: caPlaces.certificate, ...hang },
];

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
let service: Service;
beforeAll(async () => {
  clock = await newFakeClock();
  const zone = await newChallengeZone();
  lab = await openDomainLab('sqlite', {}, { ...clock.settings, ...zone });
  shop = await lab.openShop('zoo');
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

interface Checked {
  readonly ok: boolean;
  readonly source: string;
  readonly checks: readonly { readonly state: string; readonly advice?: string }[];
}

const check = async (): Promise<Checked & { readonly code: number | null }> => {
  const { code, stdout } = await lab.run(['platform', 'check', '--json']);
  return { code, ...(JSON.parse(stdout) as Checked) };
};

/** The authority must finish its validation first, or the kill would fail its challenge. */
const untilJudged = async (): Promise<void> => {
  const told = lab.gate.asked(caPlaces.challenge).filter(({ payload }) => payload !== undefined);
  await until('all challenges are judged', async () => {
    return (await lab.pebble.judgedChallenges()) === told.length;
  });
};

test('the command names the record that is missing, and fails', async () => {
  const { code, ok, source, checks } = await check();
  expect({ code, ok, source }).toEqual({ code: 1, ok: false, source: 'hosts' });
  expect(checks[0]?.advice).toBe(
    `Create this record: ${record}. 3600 IN CNAME platform.acme.platform.test.`,
  );
  const { stdout } = await lab.run(['doctor']);
  expect(stdout).toContain(`warning  platform   ${record} does not lead to platform.acme`);
  expect(stdout).toContain(String(checks[0]?.advice));
});

test('after a kill at any step, the next process continues the only order for all names of the platform', async () => {
  lab.zone.set(record, { CNAME: ['platform.acme.platform.test'] });
  for (const fault of stuck) {
    const before = unanswered(lab.gate, fault.match).length;
    lab.gate.setFaults(fault);
    service = await lab.start();
    // The lease of the dead process has ended, and the job is due.
    await clock.advance(90);
    const isHanging = () => unanswered(lab.gate, fault.match).length > before;
    await until(`it hangs at ${String(fault.match)}`, isHanging);
    await untilJudged();
    await service.end('SIGKILL');
  }
  lab.gate.setFaults();
  await lab.start();
  await clock.advance(90);
  await lab.settle(shop);
  // An order whose answer was lost is requested again; all others continue.
  expect(ordersOf(lab.gate, wildcard)).toHaveLength(2);
  expect(ordersOf(lab.gate, platformHost)).toHaveLength(2);
  expect(finalizesOf(lab.gate, platformHost)).toHaveLength(1);
  expect(ordersOf(lab.gate, `${shop.slug}.${platformHost}`)).toEqual([]);
  expect(await lab.facts.countedOrders(wildcard)).toBe(2);
});

test('a new project is served at once with the same certificate', async () => {
  const other = await lab.openShop('other');
  await lab.settle(other);
  const visitor = await lab.visitor();
  const visits = await Promise.all(
    [shop, other].map(({ slug }) => visitor.get(`${slug}.${platformHost}`)),
  );
  expect(visits.map(({ status, body }) => [status, body])).toEqual([
    [200, '<h1>zoo</h1>\n'],
    [200, '<h1>other</h1>\n'],
  ]);
  expect(new Set(visits.map(({ serial }) => serial)).size).toBe(1);
  expect(ordersOf(lab.gate, wildcard)).toHaveLength(2);
});

test('the command succeeds once the certificate is there', async () => {
  expect(await check()).toMatchObject({ code: 0, ok: true, source: 'delegation' });
});
