import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { SecureVisitor } from '../lab/secure-visitor.ts';
import { startTryOut, type TryOut } from '../lab/try-out.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { zipOf } from '../support/zip-bytes.ts';

jest.setTimeout(240_000);

let lab: TryOut;
let browser: TestBrowser;
let session: string;
beforeAll(async () => {
  lab = await startTryOut();
  browser = await startBrowser(lab.service.origin);
  const entry = await fetch(lab.signInUrl, { redirect: 'manual' });
  [session = ''] = entry.headers.getSetCookie()[0]?.split(';') ?? [];
});
afterAll(async () => {
  await browser.close();
  await lab.close();
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

/** With scripts the page follows by itself; without, somebody reloads it. */
const follow = async (page: Page, javaScript: boolean, text: string): Promise<void> => {
  const shown = page.locator('main').getByText(text, { exact: true }).first();
  if (javaScript) return shown.waitFor({ timeout: 90_000 });
  const looks = async () => {
    if (await shown.isVisible()) return true;
    await page.reload();
    return false;
  };
  await until(`the page says ${text}`, looks, 90_000);
};

test.each([
  ['with scripts', true],
  ['without scripts', false],
])(
  'a domain goes from Add over a wrong record to live and away again by clicking, %s',
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
    await follow(page, javaScript, 'added, awaiting DNS');
    await page.getByText('203.0.113.7').first().waitFor();

    expect(lab.createRecords(zone)).toEqual([]);
    const verify = page.getByRole('button', { name: 'Verify', exact: true }).first();
    if (javaScript)
      await page
        .locator('button:enabled', { hasText: 'Verify' })
        .first()
        .waitFor({ timeout: 15_000 });
    else
      await until(
        'it may be verified again',
        async () => (await page.reload(), verify.isEnabled()),
        15_000,
      );
    await verify.click();
    await follow(page, javaScript, 'live');
    const visitor = new SecureVisitor(lab.edgePort, await readFile(lab.root, 'utf8'));
    const { status, body } = await visitor.get(host);
    expect({ status, body }).toEqual({ status: 200, body: `<h1>${way}</h1>` });

    await page.goto(`${lab.service.origin}/dashboard/projects/${slug}/settings/domains`);
    await press(page, `Actions for ${host}`);
    await page.getByRole('menuitem', { name: 'Remove', exact: true }).first().click();
    await press(page, 'Remove domain');
    await page.locator('main').getByText('removed', { exact: true }).first().waitFor();
    expect(await visitor.refusal(host)).toBeDefined();
  },
);
