import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import type { SecureConnection } from '../lab/secure-connection.ts';
import { unrecognizedName, type SecureVisitor, type Visit } from '../lab/secure-visitor.ts';
import type { Shop } from '../lab/shop.ts';
import { pointFor, validationMethods } from '../lab/validation-methods.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { until } from '../support/until.ts';

const day = 24 * 60 * 60;

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
/** Of two edges: one shares its process with the worker, the other only the database. */
let visitors: readonly SecureVisitor[];
beforeAll(async () => {
  clock = await newFakeClock();
  const settings = { ...clock.settings, ...(await newChallengeZone()) };
  lab = await openDomainLab('sqlite', {}, settings);
  shop = await lab.openShop('life', 'pro');
  const [port, httpsPort] = [await findFreePort(), await findFreePort()];
  const ports = { PORT: String(port), EDGE_HTTP_PORT: '0', EDGE_HTTPS_PORT: String(httpsPort) };
  await Promise.all([lab.start(), lab.start({ ...ports, ROLES: 'edge' })]);
  visitors = [await lab.visitor(), await lab.visitor(httpsPort)];
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

describe.each(validationMethods)('validated $way,', ({ word, method }) => {
  const host = `www.life-${word}.test`;
  // Certificates of today last as long for each method.
  beforeAll(() => clock.advance(Math.round((Date.now() - clock.now().getTime()) / 1000)));

  const visitAll = (): Promise<readonly Visit[]> =>
    Promise.all(visitors.map((visitor) => visitor.get(host)));
  const refusals = (): Promise<readonly (string | undefined)[]> =>
    Promise.all(visitors.map((visitor) => visitor.refusal(host)));

  test('a domain goes live as soon as it is verified, with a certificate that browsers trust', async () => {
    const added = await shop.add(host);
    expect(added.domain.state).toBe('added');
    pointFor(lab, method, added);
    const { domain: verified, problems } = await shop.verify(host);
    expect(problems).toEqual([]);
    expect(verified.state).toBe('verified');
    // The certificate waits for nothing, such as the next check in a minute.
    expect(verified.certificate.nextAttemptAt).toBe(verified.verifiedAt);
    const isServed = async () => (await refusals()).every((one) => one === undefined);
    await until('both serve it', isServed, 60_000);
    for (const { status, body } of await visitAll()) {
      expect([status, body]).toEqual([200, '<h1>life</h1>\n']);
    }
    const { domain: live, timeline } = await shop.show(host);
    expect(live).toMatchObject({ state: 'live', certificate: { status: 'issued' } });
    const kinds = timeline.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['added', 'checked', 'attempt']));
  });

  test('its certificate is renewed in time, and meanwhile every visitor is served', async () => {
    const met = new Map<string, Date>();
    const meet = async () => {
      const visits = await visitAll();
      for (const { serial, notAfter } of visits) met.set(serial, notAfter);
      return visits;
    };
    const [first] = await meet();
    // Two thirds of its life.
    await clock.advance(60 * day);
    const isRenewed = async () => (await meet()).every(({ serial }) => serial !== first?.serial);
    await until('both serve another one', isRenewed);
    expect(clock.now() < (first?.notAfter ?? 0)).toBe(true);
    expect(met.size).toBe(2);
    expect((await shop.show(host)).domain).toMatchObject({
      state: 'live',
      certificate: { status: 'issued', notAfter: [...met.values()][1]?.toISOString() },
    });
  });

  const held: { connection: SecureConnection; resumed: () => SecureConnection }[] = [];

  test('it is served on open connections and on resumed TLS sessions', async () => {
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

  test('once removed it is served to nobody on any edge, not even on open connections or resumed sessions', async () => {
    expect((await shop.remove(host)).domain).toMatchObject({ state: 'removed', reason: 'owner' });
    const isRefused = async () => (await refusals()).every((one) => one === unrecognizedName);
    // They poll twice a second, and hear of it in no other way.
    await until('both refuse it', isRefused);
    for (const { connection, resumed } of held) {
      expect(await connection.ask()).toBe('');
      expect(await resumed().ask()).toBe('');
    }
    expect(await lab.facts.privateKeys(host)).toBe(0);
  });
});
