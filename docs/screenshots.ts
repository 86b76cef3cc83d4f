import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startTryOut, type TryOut } from '../test/lab/try-out.ts';
import { startBrowser } from '../test/support/dashboard/browser.ts';
import type { TestPage } from '../test/support/dashboard/page.ts';
import { zipOf } from '../test/support/sites/archive-bytes.ts';

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
  { name: 'light', theme: 'light', ...wide },
  { name: 'dark', theme: 'dark', ...wide },
  { name: 'phone-light', theme: 'light', ...phone },
  { name: 'phone-dark', theme: 'dark', ...phone },
] as const;

const project = '/dashboard/projects/happy-paws';
const domains = `${project}/settings/domains`;
const host = 'www.happy-paws.test';

const site = zipOf([
  { name: 'index.html', content: '<!doctype html><title>Happy Paws</title><h1>Happy Paws</h1>' },
  { name: '404.html', content: '<!doctype html><title>Nothing here</title>' },
]);

/** Takes an empty page once for each size. */
const take = async (page: TestPage, name: string): Promise<void> => {
  const wanted = name.endsWith('-empty') ? [views[0], views[3]] : views;
  for (const view of wanted) {
    const file = `${name}-${view.name}.webp`;
    if (into === undefined && !shown.includes(`screenshots/${file})`)) continue;
    await page.show(view);
    await page.raw.evaluate('scrollTo(0, 0)');
    const all = { type: 'webp', quality: 80, fullPage: true } as const;
    await writeFile(join(folder, file), await page.raw.screenshot(all));
  }
  await page.show(wide);
  process.stdout.write(`${name}\n`);
};

const button = (page: TestPage, name: string) => page.role('button', name);

const publish = async (page: TestPage, origin: string): Promise<void> => {
  await page.goto(`${origin}/dashboard`);
  await take(page, 'projects-empty');
  await page.label('Project name').fill('Happy Paws');
  await button(page, 'New project').click();
  await page.isAt(new RegExp(project));
  await take(page, 'project-empty');
  for (let deploy = 1; deploy <= 2; deploy++) {
    await page.goto(`${origin}${project}`);
    await page.label('Site archive').upload(site);
    await button(page, 'Deploy').click();
    // A live update may show the deploy while the page still sends it, and leaving then would ask for a confirmation.
    await page.role('status').words('The deploy succeeded.').isShown();
  }
  await page.goto(`${origin}${project}`);
  await take(page, 'project');
  await page.goto(`${origin}/dashboard`);
  await take(page, 'projects');
};

const liveDomain = async (page: TestPage, lab: TryOut, origin: string): Promise<void> => {
  await page.goto(origin + domains);
  await take(page, 'domains-empty');
  for (const one of ['shop.happy-paws.test', host]) {
    await page.goto(origin + domains);
    await page.label('Domain').fill(one);
    await button(page, 'Add domain').click();
    await page.role('heading', new RegExp(`^Records to create for ${one}`)).isShown();
  }
  await take(page, 'domain-added');
  await page.role('heading', 'Diagnostics').click();
  const records = await page.css('pre').has('$ORIGIN').read('textContent');
  await page.goto(`${origin}${domains}/${host}`);
  const elsewhere = '$ORIGIN happy-paws.test.\nwww 60 IN A 203.0.113.7\n';
  lab.createRecords(elsewhere);
  await button(page, 'Verify').click();
  await page.words(/conflicting_a|A record/).isShown();
  await take(page, 'domain-problem');
  const verify = page.css('button:enabled').has('Verify');
  const delegation = records.split('\n').find((line) => line.startsWith('_acme-challenge.www '));
  lab.createRecords(`${elsewhere}${delegation ?? ''}\n`);
  await verify.click();
  await page.words('Certificate ready').isShown();
  await page.goto(`${origin}${domains}/${host}`);
  await take(page, 'domain-ready');
  lab.createRecords(records);
  await verify.click();
  await page.css('.badge.good').has('live').isShown();
  await take(page, 'domain-live');
  await page.goto(origin + domains);
  await take(page, 'domains');
  await page.goto(`${origin}${domains}/${host}/remove`);
  await take(page, 'domain-remove');
};

const animals = async (page: TestPage, origin: string): Promise<void> => {
  await page.goto(`${origin}/dashboard/animals`);
  await take(page, 'animals-empty');
  for (const name of ['Rex', 'Mimi', 'Nemo', 'Coco', 'Bella']) {
    await page.label('Name').fill(name);
    await page.label('Category id').fill('7');
    await button(page, 'Add animal').click();
    await page.exactly(name).isShown();
  }
  await page.role('link', 'Nemo').click();
  await button(page, 'Sell').click();
  await button(page, 'Sell animal').click();
  await page.words('The animal is sold').isShown();
  await page.goto(`${origin}/dashboard/animals`);
  await page.role('link', 'Rex').click();
  await button(page, 'Reserve').click();
  await page.words('The animal is reserved').isShown();
  await page.goto(page.url.replace(/[?].*/, ''));
  await take(page, 'animal');
  await page.goto(`${origin}/dashboard/animals/import`);
  await take(page, 'animals-import');
  await page.goto(`${origin}/dashboard/orders`);
  await take(page, 'orders');
  await page.goto(`${origin}/dashboard/orders/1`);
  await take(page, 'order');
  await page.goto(`${origin}/dashboard/animals`);
  await take(page, 'animals');
};

const newKey = async (page: TestPage, origin: string, name: string): Promise<string> => {
  await page.goto(`${origin}/dashboard/keys`);
  await page.label('Key name').fill(name);
  await button(page, 'Create key').click();
  const shown = page.role('region').has(`Your new key: ${name}`);
  return /pets_live_\w{38}/.exec(await shown.read('textContent'))?.[0] ?? '';
};

const request = async (url: string, secret: string): Promise<void> => {
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${secret}` } });
  await answer.arrayBuffer();
};

/** As many as a shop has in a day, most of them around noon. */
const requestAllDay = async ({ clock, service }: TryOut, till: string, web: string) => {
  for (const requests of [4, 7, 12, 21, 26, 18, 24, 15, 9]) {
    for (let one = 0; one < requests; one++) {
      const path = one % 8 === 0 ? '/v1/pets/1' : `/v1/pets?limit=${one % 10 === 9 ? 0 : 5}`;
      await request(service.origin + path, one % 3 === 0 ? till : web);
    }
    await clock.advance(60 * 60);
  }
  await request(`${service.origin}/v1/pets`, web);
};

const keys = async (page: TestPage, lab: TryOut, origin: string): Promise<void> => {
  const till = await newKey(page, origin, 'Till');
  const web = await newKey(page, origin, 'Web shop');
  await take(page, 'key-created');
  await requestAllDay(lab, till, web);
  await page.goto(`${origin}/dashboard/keys`);
  await take(page, 'keys');
  // Usage is stored every 5 seconds, and the page updates automatically.
  await page.goto(`${origin}/dashboard/usage`);
  await page.role('cell').has('Web shop').isShown();
  await take(page, 'usage');
  await page.goto(`${origin}/dashboard/account`);
  await take(page, 'account');
  await page.role('button', /^Notices/).click();
  await page.role('heading', 'Notices').isShown();
  await take(page, 'notices');
};

const webhooks = async (page: TestPage, origin: string): Promise<void> => {
  let calls = 0;
  const receiver = createServer((_request, response) => {
    response.statusCode = (calls += 1) === 1 ? 503 : 200;
    response.end(response.statusCode === 200 ? 'Thanks' : '{"error": "The queue is full"}');
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  await page.goto(`${origin}/dashboard/webhooks`);
  await take(page, 'webhooks-empty');
  await page.label('Address').fill(`http://127.0.0.1:${port}/hooks`);
  await button(page, 'Add webhook').click();
  await page.words('It is not shown again').isShown();
  await take(page, 'webhook-added');
  await page.role('link', 'I have stored it').click();
  for (const result of ['trying again', 'delivered']) {
    await button(page, 'Send a test').click();
    await page.css('.badge').has(result).isShown();
  }
  await page.css('.deliveries summary').click();
  await page.words('The queue is full').isShown();
  await take(page, 'webhook');
  await page.goto(`${origin}/dashboard/webhooks`);
  await take(page, 'webhooks');
  receiver.close();
};

await mkdir(folder, { recursive: true });
const lab = await startTryOut();
const { origin } = lab.service;
const browser = await startBrowser(origin);
try {
  const page = await browser.open();
  await page.show(wide);
  await page.goto(`${origin}/dashboard/sign-in`);
  await take(page, 'sign-in');
  await page.goto(lab.signInUrl);
  await publish(page, origin);
  await liveDomain(page, lab, origin);
  await animals(page, origin);
  await webhooks(page, origin);
  await keys(page, lab, origin);
} finally {
  await browser.closePages();
  await lab.close();
}
