import { once } from 'node:events';
import { createServer } from 'node:https';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import type { Shop, ShownDomain } from '../lab/shop.ts';
import { SteadyVisitors } from '../lab/secure-visitor.ts';
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
    address,
    root: tls.cert,
    page,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', { ...clock.settings, ...(await newChallengeZone()) });
  shop = await lab.openShop('zoo');
  await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

const page = '<h1>zoo</h1>\n';

/** Retries like an owner, with the required pauses. */
const verify = async (host: string): Promise<ShownDomain | undefined> => {
  await clock.advance(11);
  return shop.verify(host).catch(() => undefined);
};

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
