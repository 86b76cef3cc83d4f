import { writeFile } from 'node:fs/promises';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { issuedFor } from '../lab/authority/ca-gate.ts';
import {
  newChallengeZone,
  openDomainLab,
  platformHost,
  type DomainLab,
} from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import { goLive, renew } from '../lab/going-live.ts';
import {
  type SecureConnection,
  unrecognizedName,
  type SecureVisitor,
  type Visit,
} from '../lab/secure-visitor.ts';
import type { Shop, ShownDomain } from '../lab/shop.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import type { Settings } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

const day = 24 * 60 * 60;

let clock: FakeClock;
let settings: Settings;
let lab: DomainLab;
let shop: Shop;
/** Visits two edges: one shares its process with a worker, the other shares only the database. */
let visitors: readonly SecureVisitor[];
beforeAll(async () => {
  clock = await newFakeClock();
  settings = { ...clock.settings, ...(await newChallengeZone()) };
  lab = await openDomainLab('mysql', settings);
  shop = await lab.openShop('zoo');
  const [port, httpsPort] = [await findFreePort(), await findFreePort()];
  const ports = { PORT: String(port), EDGE_HTTP_PORT: '0', EDGE_HTTPS_PORT: String(httpsPort) };
  // One after the other, because the second process relies on the first one's edge for its challenges.
  await lab.start();
  await lab.start({ ...ports, ROLES: 'worker,edge' });
  visitors = [await lab.visitor(), await lab.visitor(httpsPort)];
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const visitAll = (host: string, path?: string): Promise<readonly Visit[]> =>
  Promise.all(visitors.map((visitor) => visitor.get(host, path)));

const untilRefused = (...hosts: readonly string[]): Promise<true> =>
  until(`no edge serves ${hosts.join()}`, async () => {
    const asked = hosts.flatMap((host) => visitors.map((visitor) => visitor.refusal(host)));
    return (await Promise.all(asked)).every((one) => one === unrecognizedName);
  });

const untilServed = (...hosts: readonly string[]): Promise<true> =>
  until(`every edge serves ${hosts.join()}`, async () => {
    const asked = hosts.flatMap((host) => visitors.map((visitor) => visitor.refusal(host)));
    return (await Promise.all(asked)).every((one) => one === undefined);
  });

/** Retries like an owner, with the required pauses, until the state is as expected. */
const verifiedUntil = (
  what: string,
  host: string,
  isIt: (shown: ShownDomain) => boolean,
  owner = shop,
): Promise<ShownDomain> =>
  until(what, async () => {
    await clock.advance(11);
    await owner.verify(host).catch(() => undefined);
    const shown = await owner.show(host);
    return isIt(shown) && shown;
  });

const codesOf = ({ problems }: ShownDomain) => problems.map(({ code }) => code);

const leadsElsewhere = (shown: ShownDomain) => codesOf(shown).includes('cname_wrong_target');

test('doctor finds no problem, and reports that the zone is delegated to our name server', async () => {
  const { code, stdout } = await lab.run(['doctor']);
  expect(stdout.match(/^failed.*/gm)).toBeNull();
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringContaining('The zone acme.platform.test leads to our name server.'),
  });
});

describe('over HTTP,', () => {
  const host = 'www.life.test';
  const apex = 'life.test';

  test('a wrong record is explained, and with the correct one the domain goes live on every edge', async () => {
    const added = await shop.add(host);
    expect(added.domain.state).toBe('added');
    lab.zone.set(host, { CNAME: ['parking.life.test'] });
    expect(await verifiedUntil('it is explained', host, leadsElsewhere)).toMatchObject({
      domain: { state: 'added' },
      problems: [{ code: 'cname_wrong_target', seen: expect.stringContaining('parking.life') }],
    });
    lab.zone.remove(host);
    lab.zone.create(added.records[0]);
    await verifiedUntil('it is verified', host, ({ domain }) => domain.state !== 'added');
    await goLive({ lab, clock }, host);
    await untilServed(host);
    for (const { status, body } of await visitAll(host))
      expect([status, body]).toEqual([200, '<h1>zoo</h1>\n']);
    const { domain, timeline } = await shop.show(host);
    expect(domain).toMatchObject({ state: 'live', certificate: { status: 'issued' } });
    expect(domain.dns.report?.validation?.method).toBe('http-01');
    const kinds = timeline.map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['added', 'checked', 'attempt', 'live']));
    expect(issuedFor(lab.gate, host)).toBe(1);
  });

  test('another name of the project redirects to it, with path and query', async () => {
    const { records } = await shop.add(apex);
    // An apex has no CNAME record, so a TXT record proves it.
    lab.zone.create(...records.slice(0, 2));
    await verifiedUntil('the apex is verified', apex, ({ domain }) => domain.state !== 'added');
    await goLive({ lab, clock }, apex);
    await untilServed(apex);
    const file = `${lab.folder}/domains.yaml`;
    const lines = ['domains:', `  primary: ${host}`, '  redirects:'];
    const text = [...lines, `    - from: ${apex}`, `      to: ${host}`, '      status: 308', ''];
    await writeFile(file, text.join('\n'));
    expect(await shop.tell('config', file)).toEqual({
      code: 0,
      stdout: text.join('\n'),
      stderr: '',
    });
    await until('every edge redirects', async () =>
      (await visitAll(apex, '/a/b?c=1&d=%2F')).every(
        ({ status, headers }) =>
          status === 308 && headers.location === `https://${host}/a/b?c=1&d=%2F`,
      ),
    );
  });

  test('its certificate is renewed after two months, and every visitor is served meanwhile', async () => {
    const [first] = await visitAll(host);
    await clock.advance(60 * day);
    await renew({ lab, clock }, host);
    await until('every edge has another one', async () =>
      (await visitAll(host)).every(({ serial }) => serial !== first?.serial),
    );
    expect(issuedFor(lab.gate, host)).toBe(2);
  });

  test('a removed domain is not served on any edge, even on open connections or resumed sessions', async () => {
    const held: { connection: SecureConnection; resumed: () => SecureConnection }[] = [];
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
    expect((await shop.remove(host)).domain).toMatchObject({ state: 'removed', reason: 'owner' });
    await untilRefused(host);
    for (const { connection, resumed } of held) {
      expect(await connection.ask()).toBe('');
      expect(await resumed().ask()).toBe('');
    }
    expect(await lab.facts.privateKeys(host)).toBe(0);
  });

  test('a domain that is added again is a new one, and the old record does not verify it', async () => {
    const { domain, records } = await shop.add(host);
    expect(await verifiedUntil('the old one is refused', host, leadsElsewhere)).toMatchObject({
      domain: { state: 'added', token: domain.token },
      problems: [{ code: 'cname_wrong_target' }],
    });
    lab.zone.remove(host);
    lab.zone.create(records[0]);
    await verifiedUntil('it is verified', host, (shown) => shown.domain.state !== 'added');
    expect(await lab.facts.states(host)).toEqual([
      'removed',
      expect.stringMatching(/verified|live/),
    ]);
    await goLive({ lab, clock }, host);
    await untilServed(host);
  });
});

describe('by DNS,', () => {
  const host = 'www.delegated.test';
  const wildcard = '*.shop.delegated.test';

  const textsOf = async ({ domain: { token } }: ShownDomain): Promise<unknown> => {
    const resolver = new Resolver();
    resolver.setServers([`127.0.0.1:${settings['DNS_PORT'] ?? ''}`]);
    const name = `${token}.${settings['ACME_DNS_ZONE'] ?? ''}`;
    return resolver
      .resolveTxt(name)
      .catch((error: unknown) => (error as NodeJS.ErrnoException).code);
  };

  test('a delegated name gets its certificate before its traffic moves here, and is live with that certificate afterwards', async () => {
    const added = await shop.add(host);
    lab.zone.set(host, { A: ['127.0.0.99'] });
    lab.zone.create(...added.records.slice(2));
    const isReady = ({ domain }: ShownDomain) => domain.certificate.status === 'issued';
    const ready = await verifiedUntil('the certificate is ready', host, isReady);
    expect(ready.domain).toMatchObject({
      state: 'added',
      dns: { report: { validation: { delegated: true, method: 'dns-01' } } },
    });
    expect(await textsOf(added)).toBe('ENOTFOUND');

    lab.zone.remove(host);
    lab.zone.create(added.records[0]);
    await verifiedUntil('it is live', host, ({ domain }) => domain.state === 'live');
    await untilServed(host);
    const live = await shop.show(host);
    expect(live.domain.certificate.notAfter).toBe(ready.domain.certificate.notAfter);
    expect(issuedFor(lab.gate, host)).toBe(1);
  });

  test('a wildcard without its delegation names it, and with it serves each name below it until it is removed', async () => {
    const { records } = await shop.add(wildcard);
    expect(records.map(({ purpose, required }) => [purpose, required])).toEqual([
      ['route', true],
      ['delegation', true],
    ]);
    lab.zone.create(records[0]);
    await verifiedUntil('the delegation is missed', wildcard, (shown) =>
      codesOf(shown).includes('delegation_missing'),
    );
    lab.zone.create(...records);
    await verifiedUntil('it is verified', wildcard, ({ domain }) => domain.state !== 'added');
    const covered = ['a', 'b'].map((label) => `${label}.shop.delegated.test`);
    await untilServed(...covered);
    await untilRefused('shop.delegated.test', 'a.b.shop.delegated.test');
    await shop.remove(wildcard);
    await untilRefused(...covered);
  });

  test('the platform has one certificate for all projects once its own name is delegated', async () => {
    lab.zone.set(`_acme-challenge.${platformHost}`, { CNAME: ['platform.acme.platform.test'] });
    const other = await lab.openShop('other');
    await clock.advance(90);
    await until('both are served with it', async () => {
      const hosts = [shop, other].map(({ slug }) => `${slug}.${platformHost}`);
      const visits = await Promise.all(hosts.map((host) => visitAll(host))).catch(() => undefined);
      return visits !== undefined && new Set(visits.flat().map(({ serial }) => serial)).size === 1;
    });
    expect(issuedFor(lab.gate, `*.${platformHost}`)).toBe(1);
    const { code, stdout } = await lab.run(['platform', 'check', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { ok: true, source: 'delegation' }]);
  });
});

test('an account that proves a name takes it over, and each visitor gets one site or the other with one certificate', async () => {
  const host = 'www.contested.test';
  const [own] = (await shop.add(host)).records;
  lab.zone.create(own);
  await verifiedUntil('it is verified', host, ({ domain }) => domain.state !== 'added');
  await goLive({ lab, clock }, host);
  await untilServed(host);
  const [{ serial } = { serial: '' }] = await visitAll(host);

  const rival = await lab.openShop('rival');
  const { records } = await rival.add(host);
  lab.zone.remove(host);
  lab.zone.create(records[0]);
  // The name leads to the rival, which has not proven it yet.
  const missed = await verifiedUntil(
    'the proof is missed',
    host,
    (shown) => codesOf(shown).includes('ownership_txt_missing'),
    rival,
  );
  expect(missed.domain.state).toBe('added');
  for (const { body } of await visitAll(host)) expect(body).toBe('<h1>zoo</h1>\n');

  lab.zone.create(records[1]);
  await verifiedUntil('it is proven', host, ({ domain }) => domain.state === 'live', rival);
  const seen = new Set<string>();
  await until('every edge serves the other site', async () => {
    const visits = await visitAll(host);
    for (const visit of visits) seen.add(`${visit.serial} ${visit.body}`);
    return visits.every(({ body }) => body === '<h1>rival</h1>\n');
  });
  const [before, after] = ['zoo', 'rival'].map((name) => `${serial} <h1>${name}</h1>\n`);
  expect([...seen].filter((one) => one !== before && one !== after)).toEqual([]);
  expect((await shop.show(host)).domain).toMatchObject({ state: 'removed', reason: 'contested' });
  expect(issuedFor(lab.gate, host)).toBe(1);
  expect(await lab.facts.privateKeys(host)).toBe(1);
});

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
});
