import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { SecureVisitor } from '../lab/secure-visitor.ts';
import { startTryOut, type TryOut } from '../lab/try-out.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { until } from '../support/until.ts';
import { zipOf } from '../support/sites/zip-bytes.ts';

jest.setTimeout(300_000);

let lab: TryOut;
let browser: TestBrowser;
let session: string;
beforeAll(async () => {
  lab = await startTryOut();
  browser = await startBrowser(lab.service.origin);
  const entry = await fetch(lab.signInUrl, { redirect: 'manual' });
  const cookies = entry.headers.getSetCookie();
  [session = ''] = cookies.find((one) => one.startsWith('session='))?.split(';') ?? [];
}, browserStartMs);
afterAll(async () => {
  try {
    await browser.close();
  } finally {
    await lab.close();
  }
});

const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first().click();

const publish = async (page: Page, name: string): Promise<void> => {
  await page.goto(`${lab.service.origin}/dashboard`);
  await page.getByLabel('Project name').fill(name);
  await press(page, 'New project');
  const index = { name: 'index.html', content: `<h1>${name}</h1>` };
  const archive = { name: 'site.zip', mimeType: 'application/zip', buffer: zipOf([index]) };
  await page.getByLabel('Site archive').setInputFiles(archive);
  await press(page, 'Deploy');
  await page.getByText('succeeded').first().waitFor();
};

/** Beyond the first look that the service takes by itself, a minute after somebody pressed Verify. */
const patienceMs = 90_000;

/** With scripts the page follows by itself; without, somebody reloads it. */
const follow = async (page: Page, javaScript: boolean, wanted: Locator): Promise<void> => {
  const shown = wanted.first();
  if (javaScript) return shown.waitFor({ timeout: patienceMs });
  const looks = async () => {
    if (await shown.isVisible()) return true;
    await page.reload();
    return false;
  };
  await until(`the page shows ${String(wanted)}`, looks, patienceMs);
};

test.each([
  ['with scripts', true],
  ['without scripts', false],
])(
  'a domain is added, corrected, made live and removed by clicking, %s',
  async (way, javaScript) => {
    const slug = way.replace(' ', '-');
    const host = `www.${slug}.test`;
    const page = await browser.open({ javaScript, cookie: session });
    await publish(page, way);
    await page.getByRole('link', { name: 'Domains', exact: true }).first().click();
    await page.getByLabel('Domain', { exact: true }).fill(host);
    await press(page, 'Add domain');

    await page.getByRole('heading', { name: `Records to create for ${host}` }).waitFor();
    const zone = (await page.locator('pre', { hasText: '$ORIGIN' }).first().textContent()) ?? '';
    expect(zone).toContain('IN CNAME');
    await page.getByRole('link', { name: host, exact: true }).click();
    expect(lab.createRecords(`$ORIGIN ${slug}.test.\nwww 60 IN A 203.0.113.7\n`)).toEqual([]);
    await press(page, 'Verify');
    const words = page.locator('main');
    await follow(page, javaScript, words.getByText('203.0.113.7'));
    expect(await words.getByText('added, awaiting DNS', { exact: true }).count()).not.toBe(0);

    const verify = words.locator('button:enabled:not([data-ready-at])', { hasText: /^Verify$/ });
    await follow(page, javaScript, verify);
    expect(lab.createRecords(zone)).toEqual([]);
    const live = words.getByText('live', { exact: true });
    // The service may be faster, as it looks by itself too.
    await Promise.race([verify.first().click(), live.first().waitFor()]);
    await follow(page, javaScript, live);
    const visitor = new SecureVisitor(lab.edgePort, await readFile(lab.root, 'utf8'));
    const { status, body } = await until('the site is served', () =>
      visitor.get(host).catch(() => undefined),
    );
    expect({ status, body }).toEqual({ status: 200, body: `<h1>${way}</h1>` });

    await page.goto(`${lab.service.origin}/dashboard/projects/${slug}/settings/domains`);
    await press(page, `Actions for ${host}`);
    await page.getByRole('menuitem', { name: 'Remove', exact: true }).first().click();
    await press(page, 'Remove domain');
    await page.locator('main').getByText('removed', { exact: true }).first().waitFor();
    expect(await visitor.refusal(host)).toBeDefined();
  },
);
