import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { startTryOut, type TryOut } from '../test/lab/try-out.ts';
import { findBrowser } from '../test/support/dashboard/browser-program.ts';
import { zipOf } from '../test/support/sites/zip-bytes.ts';

// `make screenshots`: walks through the dashboard in the lab and takes the pictures that README.md and docs show.
// `make screenshots INTO=folder` takes one of every page, for people to look at.

const { INTO: into } = process.env;
const folder = into ?? join(import.meta.dirname, 'screenshots');
const texts = globSync(['README.md', 'docs/*.md'], { cwd: join(import.meta.dirname, '..') });
const shown = texts
  .map((path) => readFileSync(join(import.meta.dirname, '..', path), 'utf8'))
  .join();
const wide = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
const views = [
  { name: 'light', colorScheme: 'light', size: wide },
  { name: 'dark', colorScheme: 'dark', size: wide },
  { name: 'phone-light', colorScheme: 'light', size: phone },
  { name: 'phone-dark', colorScheme: 'dark', size: phone },
] as const;

const project = '/dashboard/projects/happy-paws';
const domains = `${project}/settings/domains`;
const host = 'www.happy-paws.test';

const site = zipOf([
  { name: 'index.html', content: '<!doctype html><title>Happy Paws</title><h1>Happy Paws</h1>' },
  { name: '404.html', content: '<!doctype html><title>Nothing here</title>' },
]);

/** An empty page is taken once for each size. */
const take = async (page: Page, name: string): Promise<void> => {
  const wanted = name.endsWith('-empty') ? [views[0], views[3]] : views;
  for (const { name: view, colorScheme, size } of wanted) {
    const file = `${name}-${view}.webp`;
    if (into === undefined && !shown.includes(`screenshots/${file})`)) continue;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize(size);
    await writeFile(join(folder, file), await picture(page));
  }
  await page.setViewportSize(wide);
  process.stdout.write(`${name}\n`);
};

/** All of the page as WebP, which Playwright does not write: a fifth of the size of a PNG. */
const picture = async (page: Page): Promise<Buffer> => {
  const session = await page.context().newCDPSession(page);
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality: 85,
    captureBeyondViewport: true,
    clip: { ...cssContentSize, scale: 1 },
  });
  await session.detach();
  return Buffer.from(data, 'base64');
};

const button = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).first();

const publish = async (page: Page, origin: string): Promise<void> => {
  await page.goto(`${origin}/dashboard`);
  await take(page, 'projects-empty');
  await page.getByLabel('Project name').fill('Happy Paws');
  await button(page, 'New project').click();
  await page.waitForURL(`**${project}*`);
  await take(page, 'project-empty');
  for (let deploy = 1; deploy <= 2; deploy++) {
    const file = { name: 'site.zip', mimeType: 'application/zip', buffer: site };
    await page.getByLabel('Site archive').setInputFiles(file);
    await button(page, 'Deploy').click();
    await page
      .getByText(`#${deploy}`)
      .or(page.getByText(`Deploy ${deploy}`))
      .first()
      .waitFor();
    await page.waitForLoadState();
  }
  await page.goto(`${origin}${project}`);
  await take(page, 'project');
  await page.goto(`${origin}/dashboard`);
  await take(page, 'projects');
};

const liveDomain = async (page: Page, lab: TryOut, origin: string): Promise<void> => {
  await page.goto(origin + domains);
  await take(page, 'domains-empty');
  for (const one of ['shop.happy-paws.test', host]) {
    await page.goto(origin + domains);
    await page.getByLabel('Domain', { exact: true }).fill(one);
    await button(page, 'Add domain').click();
    await page.waitForURL(`**added=${one}*`);
  }
  await take(page, 'domain-added');
  const records = (await page.locator('pre', { hasText: '$ORIGIN' }).first().textContent()) ?? '';
  await page.goto(`${origin}${domains}/${host}`);
  const elsewhere = '$ORIGIN happy-paws.test.\nwww 60 IN A 203.0.113.7\n';
  lab.createRecords(elsewhere);
  await button(page, 'Verify').click();
  await page.getByText('conflicting_a').or(page.getByText('A record')).first().waitFor();
  await take(page, 'domain-problem');
  const verify = page.locator('button:enabled', { hasText: 'Verify' }).first();
  const delegation = records.split('\n').find((line) => line.startsWith('_acme-challenge.www '));
  lab.createRecords(`${elsewhere}${delegation ?? ''}\n`);
  await verify.click({ timeout: 30_000 });
  await page.getByText('Certificate ready').first().waitFor({ timeout: 60_000 });
  // Without what the last check said.
  await page.goto(`${origin}${domains}/${host}`);
  await take(page, 'domain-ready');
  lab.createRecords(records);
  await verify.click({ timeout: 30_000 });
  await page.locator('.badge.good', { hasText: 'live' }).first().waitFor({ timeout: 30_000 });
  await take(page, 'domain-live');
  await page.goto(origin + domains);
  await take(page, 'domains');
  await page.goto(`${origin}${domains}/${host}/remove`);
  await take(page, 'domain-remove');
};

const animals = async (page: Page, origin: string): Promise<void> => {
  await page.goto(`${origin}/dashboard/animals`);
  await take(page, 'animals-empty');
  for (const name of ['Rex', 'Mimi', 'Nemo', 'Coco', 'Bella']) {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByLabel('Category id').fill('7');
    await button(page, 'Add animal').click();
    await page.getByText(name, { exact: true }).first().waitFor();
  }
  await button(page, 'Sell').click();
  await button(page, 'Sell animal').click();
  await button(page, 'Approve').waitFor();
  await button(page, 'Reserve').click();
  // Without the mark on the row, whose colours do not follow the view.
  await page.goto(`${origin}/dashboard/animals`);
  await take(page, 'animals');
};

const keys = async (page: Page, origin: string): Promise<void> => {
  await page.goto(`${origin}/dashboard/keys`);
  await page.getByLabel('Key name').fill('Web shop');
  await button(page, 'Create key').click();
  const [secret = ''] = /pets_live_\w{38}/.exec((await page.textContent('main')) ?? '') ?? [];
  await take(page, 'key-created');
  for (let request = 0; request < 40; request++) {
    const path = request % 8 === 0 ? '/v1/pets/1' : `/v1/pets?limit=${request % 10 === 0 ? 0 : 5}`;
    await fetch(origin + path, { headers: { Authorization: `Bearer ${secret}` } });
  }
  await page.goto(`${origin}/dashboard/keys`);
  await take(page, 'keys');
  // Usage is stored every 5 seconds; the page follows by itself.
  await page.goto(`${origin}/dashboard/usage`);
  await page.getByText('Web shop').first().waitFor({ timeout: 15_000 });
  await take(page, 'usage');
  await page.goto(`${origin}/dashboard/account`);
  await take(page, 'account');
  await page.getByRole('button', { name: /^Notices/ }).click();
  await take(page, 'notices');
};

/** Of a receiver that is busy at first. */
const webhooks = async (page: Page, origin: string): Promise<void> => {
  let calls = 0;
  const receiver = createServer((_request, response) => {
    response.statusCode = (calls += 1) === 1 ? 503 : 200;
    response.end(response.statusCode === 200 ? 'Thanks' : '{"error": "The queue is full"}');
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  await page.goto(`${origin}/dashboard/webhooks`);
  await take(page, 'webhooks-empty');
  await page.getByLabel('Address', { exact: true }).fill(`http://127.0.0.1:${port}/hooks`);
  await button(page, 'Add webhook').click();
  await page.getByText('It is not shown again').waitFor();
  await take(page, 'webhook-added');
  await page.getByRole('link', { name: 'I have stored it' }).click();
  for (const result of ['trying again', 'delivered']) {
    await button(page, 'Send a test').click();
    await page.locator('.badge', { hasText: result }).first().waitFor({ timeout: 30_000 });
  }
  await page.getByText('Message and answers').first().click();
  await take(page, 'webhook');
  await page.goto(`${origin}/dashboard/webhooks`);
  await take(page, 'webhooks');
  receiver.close();
};

if (into === undefined) await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
const lab = await startTryOut();
const program = await findBrowser();
const browser = await chromium.launch({
  executablePath: program.executable,
  env: { ...process.env, ...program.environment },
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
});
try {
  const page = await browser.newPage({ viewport: wide });
  const { origin } = lab.service;
  await page.goto(`${origin}/dashboard/sign-in`);
  await take(page, 'sign-in');
  await page.goto(lab.signInUrl);
  await publish(page, origin);
  await liveDomain(page, lab, origin);
  await animals(page, origin);
  await keys(page, origin);
  await webhooks(page, origin);
} finally {
  await browser.close();
  await lab.close();
}
