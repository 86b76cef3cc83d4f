import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { SecureVisitor } from '../lab/secure-visitor.ts';
import { startTryOut, type TryOut } from '../lab/try-out.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { ClickingOwner, press, signIn } from '../support/dashboard/clicking-owner.ts';
import { until } from '../support/until.ts';

jest.setTimeout(300_000);

let lab: TryOut;
let browser: TestBrowser;
let cookie: string;
let visitor: SecureVisitor;
beforeAll(async () => {
  lab = await startTryOut();
  browser = await startBrowser(lab.service.origin);
  cookie = await signIn(lab);
  visitor = new SecureVisitor(lab.edgePort, await readFile(lab.root, 'utf8'));
}, browserStartMs);
afterAll(async () => {
  try {
    await browser.closePages();
  } finally {
    await lab.close();
  }
});

const openOwner = async (javaScript = true): Promise<ClickingOwner> =>
  new ClickingOwner(await browser.open({ javaScript, cookie }), lab, javaScript);

/** Of each project: what is created counts instead of all there was before. */
const zones = new Map<string, string>();
const createRecords = (slug: string, zone: string): void => {
  zones.set(slug, zone);
  expect(lab.createRecords([...zones.values()].join('\n'))).toEqual([]);
};

const clickThrough = async (way: string, javaScript: boolean): Promise<void> => {
  const slug = way.replace(' ', '-');
  const host = `www.${slug}.test`;
  const owner = await openOwner(javaScript);
  const { page } = owner;
  await owner.publish(way);
  await page.role('link', 'Domains').click();
  const zone = await owner.add(slug, host);
  expect(zone).toContain('IN CNAME');
  createRecords(slug, `$ORIGIN ${slug}.test.\nwww 60 IN A 203.0.113.7\n`);
  await press(page, 'Verify');
  await owner.seesText('203.0.113.7');
  const words = page.css('main');
  expect(await words.exactly('added, awaiting DNS').count()).not.toBe(0);

  createRecords(slug, zone);
  await owner.verify();
  await owner.seesState('live');
  const { status, body } = await until('the site is served', () =>
    visitor.get(host).catch(() => undefined),
  );
  expect({ status, body }).toEqual({ status: 200, body: `<h1>${way}</h1>` });

  await owner.remove(slug, host);
  expect(await visitor.refusal(host)).toBeDefined();
};

test('a domain is added, corrected, made live and removed by clicking, with scripts and without', async () => {
  // At the same time, since most of it is waiting until the service looks again.
  await Promise.all([clickThrough('with scripts', true), clickThrough('without scripts', false)]);
});
