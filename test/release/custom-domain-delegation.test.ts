import { once } from 'node:events';
import { createServer } from 'node:https';
import { Resolver } from 'node:dns/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import type { Shop, ShownDomain } from '../lab/shop.ts';
import { SteadyVisitors } from '../lab/secure-visitor.ts';
import type { Settings } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';
import { tlsFor } from '../lab/authority/pebble.ts';

/** The previous server of a site, with its own certificate. */
interface OldServer {
  readonly address: string;
  /** PEM. */
  readonly root: string;
  readonly page: string;
  close(): void;
}

const startOldServer = async (
  host: string,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<OldServer> => {
  const page = '<h1>the old server</h1>\n';
  const tls = await tlsFor(host);
  const server = createServer(tls, (_, response) => response.end(page));
  await once(server.listen(port, address), 'listening');
  return {
    ...{ address, root: tls.cert, page },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

let clock: FakeClock;
let settings: Settings;
let lab: DomainLab;
let shop: Shop;
beforeAll(async () => {
  clock = await newFakeClock();
  settings = { ...clock.settings, ...(await newChallengeZone()) };
  lab = await openDomainLab('sqlite', {}, settings);
  shop = await lab.openShop('zoo');
  await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const page = '<h1>zoo</h1>\n';

/** No HTTP server answers, so only DNS can validate the name. */
const nowhere = { A: ['127.0.0.99'] };

/** Retries like an owner, with the required pauses. */
const verify = async (host: string, owner = shop): Promise<ShownDomain | undefined> => {
  await clock.advance(11);
  return owner.verify(host).catch(() => undefined);
};

const verified = (host: string): Promise<ShownDomain> =>
  until(`${host} is verified`, async () => {
    const shown = await verify(host);
    return shown && shown.domain.state !== 'added' && shown;
  });

/** Waits until this many more visitors got the page. */
const come = (visitors: SteadyVisitors, page: string, count: number) => {
  const last = visitors.pages.length;
  return until(
    `${String(count)} more visitors get ${page}`,
    () => visitors.pages.slice(last).filter((one) => one === page).length >= count,
  );
};

const liveNotices = async (): Promise<number> =>
  (await lab.facts.notices(shop.accountId)).filter((kind) => kind === 'domain.live').length;

const textsOf = async ({ domain: { token } }: ShownDomain): Promise<unknown> => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${settings['DNS_PORT'] ?? ''}`]);
  return resolver
    .resolveTxt(`${token}.${settings['ACME_DNS_ZONE'] ?? ''}`)
    .catch((error: unknown) => {
      return (error as NodeJS.ErrnoException).code;
    });
};

test('a delegated name is validated by DNS through our own name server, even if nothing answers HTTP', async () => {
  const host = 'www.delegated.test';
  const added = await shop.add(host);
  const [route, , delegation] = added.records;
  expect(delegation).toEqual({
    ...{ purpose: 'delegation', type: 'CNAME', ttl: 3600, required: false },
    ...{ name: '_acme-challenge.www', fqdn: `_acme-challenge.${host}` },
    value: `${added.domain.token}.acme.platform.test`,
  });
  lab.zone.create(route, ...(delegation ? [delegation] : []));
  lab.zone.lie(host, nowhere);
  const shown = await verified(host);
  expect(shown.domain.dns.report?.validation).toEqual({ delegated: true, method: 'dns-01' });
  await lab.waitUntilServed(host);
  expect(await lab.facts.outcomes(host)).toEqual(['issued']);
  expect(await textsOf(added)).toBe('ENOTFOUND');
});

test('doctor reports whether the zone is delegated to our name server', async () => {
  const found = async (): Promise<string> => (await lab.run(['doctor'])).stdout;
  expect(await found()).toContain('The zone acme.platform.test leads to our name server.');
  lab.delegate('acme.platform.test', 1);
  expect(await found()).toContain('acme.platform.test NS acme-ns.platform.test');
  lab.delegate('acme.platform.test', Number(settings['DNS_PORT']));
});

test('a CAA record that allows only DNS validation blocks a name until it is delegated', async () => {
  const host = 'www.strict.test';
  const { records } = await shop.add(host);
  lab.zone.create(records[0]);
  const value = 'ca.lab.test; validationmethods=dns-01';
  lab.zone.set('strict.test', { CAA: [{ flags: 0, tag: 'issue', value }] });
  await until('the problem is shown', async () => {
    await verify(host);
    const { problems } = await shop.show(host);
    return problems.some(
      ({ code, seen }) => code === 'caa_forbids_issuer' && seen.includes('http-01'),
    );
  });
  lab.zone.create(...records.slice(2));
  await verified(host);
  await lab.waitUntilServed(host);
});

test('a running site moves here without a failed handshake or a wrong page', async () => {
  const host = 'www.moving.test';
  const { otherResolver: resolver, httpsPort: port } = lab;
  const old = await startOldServer(host, { address: '127.0.0.50', port });
  lab.zone.set(host, { A: [old.address] });
  const roots = [old.root, await lab.pebble.root()];
  const visitors = new SteadyVisitors({ host, port, resolver, roots }, 20);
  try {
    const { records, domain } = await shop.add(host);
    await come(visitors, old.page, 50);
    lab.zone.create(...records.slice(2));
    const ready = await until('the certificate is ready', async () => {
      await verify(host);
      const shown = await shop.show(host);
      return shown.domain.certificate.status === 'issued' && shown;
    });
    expect(ready.domain.state).toBe('added');
    await come(visitors, old.page, 50);
    // The visitors' resolver learns of the move before the service's resolvers do.
    lab.zone.lie(host, { CNAME: [records[0].value] });
    await come(visitors, page, 50);
    expect(await lab.facts.states(host)).toEqual(['added']);
    const before = await liveNotices();
    lab.zone.set(host, { CNAME: [records[0].value] });
    lab.zone.lie(host, undefined);
    await until('it is live', async () => {
      await verify(host);
      return (await lab.facts.states(host))[0] === 'live';
    });
    await until('its owner is told', async () => (await liveNotices()) > before);
    await come(visitors, page, 50);
    expect(await liveNotices()).toBe(before + 1);
    const live = await shop.show(host);
    expect(live.domain.certificate).toMatchObject({ notAfter: ready.domain.certificate.notAfter });
    expect(live.domain.token).toBe(domain.token);
  } finally {
    await visitors.stop();
    old.close();
  }
  expect(new Set(visitors.pages)).toEqual(new Set([old.page, page]));
  expect(await lab.facts.outcomes(host)).toEqual(['issued']);
  const told = await lab.facts.stepsOf(host);
  expect(told.filter((kind) => kind !== 'checked')).toEqual([
    ...['added', 'attempt', 'ready', 'verified', 'live'],
  ]);
});

test('the delegation takes over a name and its certificate, without a failed handshake or a wrong page', async () => {
  const host = 'www.delegated.test';
  const { otherResolver: resolver, httpsPort: port } = lab;
  const rival = await lab.openShop('rival');
  const added = await rival.add(host);
  lab.zone.lie(host, undefined);
  const visitors = new SteadyVisitors(
    { host, port, resolver, roots: [await lab.pebble.root()] },
    20,
  );
  try {
    await come(visitors, page, 20);
    lab.zone.create(...[added.records[0], ...added.records.slice(2)]);
    await until('it is taken over', async () => {
      await verify(host, rival);
      return (await rival.show(host)).domain.state === 'live';
    });
    await come(visitors, '<h1>rival</h1>\n', 20);
  } finally {
    await visitors.stop();
  }
  // An answer of the former server that was under way is cut, long after its handshake.
  const got = visitors.pages.filter((one) => one !== 'Error: socket hang up');
  expect(visitors.pages.length - got.length).toBeLessThanOrEqual(2);
  expect(new Set(got)).toEqual(new Set([page, '<h1>rival</h1>\n']));
  expect(await lab.facts.outcomes(host)).toEqual(['issued']);
  expect((await shop.show(host)).domain).toMatchObject({ state: 'removed', reason: 'contested' });
});
