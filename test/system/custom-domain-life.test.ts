import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import type { SecureConnection } from '../lab/secure-connection.ts';
import { unrecognizedName, type SecureVisitor, type Visit } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import { findFreePort } from '../support/debian-server.ts';
import { until } from '../support/until.ts';

const host = 'www.life.test';
/** Two thirds of it later it is renewed, by the real clock: that is the authority's. */
const certificateSeconds = 15;

let lab: DomainLab;
let shop: Shop;
/** Of two edges: one shares its process with the worker, the other only the database. */
let visitors: readonly SecureVisitor[];
beforeAll(async () => {
  lab = await openDomainLab('sqlite', { certificateSeconds });
  shop = await lab.openShop('life', 'pro');
  const [port, httpsPort] = [await findFreePort(), await findFreePort()];
  const ports = { PORT: String(port), EDGE_HTTP_PORT: '0', EDGE_HTTPS_PORT: String(httpsPort) };
  await Promise.all([lab.start(), lab.start({ ...ports, ROLES: 'edge' })]);
  visitors = [await lab.visitor(), await lab.visitor(httpsPort)];
  await lab.settle(shop);
});
afterAll(() => lab.close());

const visitAll = (): Promise<readonly Visit[]> =>
  Promise.all(visitors.map((visitor) => visitor.get(host)));
const refusals = (): Promise<readonly (string | undefined)[]> =>
  Promise.all(visitors.map((visitor) => visitor.refusal(host)));

test('a domain goes live within seconds of its record, with a certificate that browsers trust', async () => {
  const { records, domain } = await shop.add(host);
  expect(domain.state).toBe('added');
  lab.zone.create(records[0]);
  const started = performance.now();
  expect(await shop.verify(host)).toMatchObject({ domain: { state: 'verified' }, problems: [] });
  await until('both serve it', async () => (await refusals()).every((one) => one === undefined));
  expect(performance.now() - started).toBeLessThan(10_000);
  for (const { status, body } of await visitAll()) {
    expect([status, body]).toEqual([200, '<h1>life</h1>\n']);
  }
  const { domain: live, timeline } = await shop.show(host);
  expect(live).toMatchObject({ state: 'live', certificate: { status: 'issued' } });
  const kinds = timeline.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(['added', 'checked', 'attempt']));
});

test('its certificate is renewed in time, and no visitor ever meets an expired one', async () => {
  const [first] = await visitAll();
  const expires = first?.notAfter.getTime() ?? 0;
  const met = new Map<string, Date>();
  const meet = async () => {
    for (const { serial, notAfter } of await visitAll()) met.set(serial, notAfter);
    return Date.now() > expires + 1000;
  };
  await until('the first one has expired', meet, 2 * certificateSeconds * 1000);
  expect(met.size).toBe(2);
  expect((await shop.show(host)).domain).toMatchObject({
    state: 'live',
    certificate: { status: 'issued', notAfter: [...met.values()][1]?.toISOString() },
  });
});

const held: { connection: SecureConnection; resumed: () => SecureConnection }[] = [];

test('it is served to who stays connected and to who comes back with a session', async () => {
  for (const visitor of visitors) {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const connection = visitor.open(host, version);
      expect(await connection.ask()).toBe('HTTP/1.1 200 OK');
      const resumed = () => visitor.resume(host, connection.session);
      const again = resumed();
      expect(await again.ask()).toBe('HTTP/1.1 200 OK');
      again.close();
      held.push({ connection, resumed });
    }
  }
});

test('once removed it is served to nobody, whatever they hold, on any edge within a second', async () => {
  expect((await shop.remove(host)).domain).toMatchObject({ state: 'removed', reason: 'owner' });
  const isRefused = async () => (await refusals()).every((one) => one === unrecognizedName);
  await until('both refuse it', isRefused, 1000);
  for (const { connection, resumed } of held) {
    expect(await connection.ask()).toBe('');
    expect(await resumed().ask()).toBe('');
  }
  expect(await lab.facts.privateKeys(host)).toBe(0);
});
