import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { HTTPRequest } from 'puppeteer-core';
import { AccessKey, DomainsKey, SitesKey } from '../../src/app/keys.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { pointAtUs } from '../support/dashboard/filling.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';
import { from, knownTimes } from '../support/known-times.ts';
import { until } from '../support/until.ts';
import type { TestPage } from '../support/dashboard/page.ts';
import { zipOf } from '../support/sites/archive-bytes.ts';
import { plainTree } from '../support/sites/direct-unpacking.ts';

let slug: string;
const browsed = browseDashboard(async ({ dashboard, owner }) => {
  const sites = dashboard.container.get(SitesKey);
  const project = await sites.startProject(owner.accountId, 'Birds');
  await deployEntries(dashboard.container, project, entry('index.html'));
  ({ slug } = project);
});

const domains = () => browsed.dashboard.container.get(DomainsKey);
const sites = () => browsed.dashboard.container.get(SitesKey);
const addDomain = async (host: string) =>
  domains().addDomain((await sites().getSite(slug)).project, host);

test('a live page updates itself, and typed text and opened parts stay', async () => {
  const domain = await addDomain('www.birds.test');
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  const row = page.role('row').has('www.birds.test');
  await row.words('added, awaiting DNS').isShown();
  const field = page.label('Domain');
  const box = page.role('checkbox', /^Also add/);
  await field.type('bi');
  await page.evaluate('window.isSame = true');
  pointAtUs(browsed.dashboard, domain);
  await domains().verifyDomain(domain);
  await row.exactly('verified').isShown();
  await field.type('rds.test');
  await page.press('Tab');
  await box.tick(false);
  await domains().tendDomain(await domains().getDomain(domain.projectId, domain.host));
  await row.exactly('live').isShown();
  expect(await field.read('value')).toBe('birds.test');
  expect(await box.read('checked')).toBe(false);
  expect(await page.evaluate('window.isSame')).toBe(true);
});

test('while a name is typed, the checkbox shows the second name that it adds', async () => {
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  const field = page.label('Domain');
  const other = page.role('checkbox', /^Also add/);
  const any = 'www.example.com for example.com, or the other way round';
  for (const [typed, name] of [
    ['bücher.test', 'www.bücher.test'],
    [' WWW.Example.co.uk. ', 'example.co.uk'],
    ['', any],
  ] as const) {
    await field.fill(typed);
    await page.role('checkbox', `Also add ${name}, and redirect it to this one`).isShown();
    expect(await other.read('disabled')).toBe(false);
  }
  for (const typed of ['shop.example.com', 'www.com', '*.example.com', 'example.com?']) {
    await field.fill('');
    await other.isShown();
    await field.fill(typed);
    await other.isGone();
    expect(await page.css('input[name=pair]').read('disabled')).toBe(true);
  }
});

test('an opened part of a live page stays open', async () => {
  const domain = await addDomain('opened.birds.test');
  const page = await browsed.visit(
    `/dashboard/projects/${slug}/settings/domains/opened.birds.test`,
  );
  const snippet = page.css('details pre');
  await page.role('heading', 'Diagnostics').click();
  await snippet.isShown();
  await domains().verifyDomain(domain);
  await page.role('heading', 'Problems').isShown();
  expect(await snippet.isVisible()).toBe(true);
});

test('the focus stays with a shared link when another one is created', async () => {
  const domain = await addDomain('shared.birds.test');
  await domains().makeShare(domain);
  browsed.dashboard.clock.advance(60_000);
  await domains().makeShare(domain);
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains/${domain.id}`);
  const links = page.css('[title^="Revoke the link"]');
  const focused = 'document.activeElement.title';
  await links.focus();
  const before = await page.evaluate(focused);
  browsed.dashboard.clock.advance(60_000);
  await domains().makeShare(domain);
  await until('the new link is shown', async () => (await links.count()) === 3);
  expect(await page.evaluate(focused)).toBe(before);
});

test('the message about a check follows the state of the domain', async () => {
  const domain = await addDomain('said.birds.test');
  pointAtUs(browsed.dashboard, domain);
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`);
  await page.css('[title="Verify said.birds.test"]').click();
  const said = page.role('status');
  await said.words('its certificate has been ordered').isShown();
  await domains().tendDomain(await domains().getDomain(domain.projectId, domain.host));
  await said.words('The domain is verified and live.').isShown();
});

test.each([
  ['slow', -3_600_000],
  ['fast', 3_600_000],
] as const)(
  "a device whose clock is %s shows by the server's clock when a button works again",
  async (clock, ms) => {
    const domain = await addDomain(`${clock}.birds.test`);
    await domains().verifyDomain(domain);
    const now = new Date(browsed.dashboard.clock.now().getTime() + ms);
    const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains`, { now });
    const button = page.css(`[title="Verify ${domain.host}"]`);
    await page.passTime(1000);
    expect(await button.read('disabled')).toBe(true);
    const form = page.css(`form:has([title="Verify ${domain.host}"])`);
    await form.words(/^available in \d+ seconds?$/).isShown();
    await page.passTime(60_000);
    expect(await button.read('disabled')).toBe(false);
  },
);

test('an untouched field follows changes that are saved elsewhere', async () => {
  const domain = await addDomain('first.birds.test');
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/redirects`);
  const primary = page.label('Primary');
  expect(await primary.read('value')).toBe('');
  const edit = (host: string) =>
    domains().editDomainSettings(domain.projectId, (settings) => ({ ...settings, primary: host }));
  await edit(domain.host);
  await page.words('Now first.birds.test.').isShown();
  expect(await primary.read('value')).toBe(domain.host);
  await edit('');
});

test('a page whose session ends elsewhere leads to the sign-in page and back', async () => {
  const visitor = await browsed.dashboard.signIn(browsed.owner.email);
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals', { cookie: visitor.cookie });
  const following = page.raw.waitForResponse(
    (answer) => answer.url().endsWith(path) && isStream(answer.headers()),
  );
  await page.goto(browsed.dashboard.origin + path);
  await following;
  const access = browsed.dashboard.container.get(AccessKey);
  const signedIn = await access.findSession(visitor.cookie!.split('=')[1]!);
  await access.revokeSession(signedIn!, signedIn!.session.id);
  await page.isAt(`/dashboard/sign-in?next=${path}`);
});

const asksForUpdates = (request: HTTPRequest, path: string): boolean =>
  request.url().endsWith(path) &&
  (request.headers()['accept']?.includes('text/event-stream') ?? false);

const isStream = (headers: Readonly<Record<string, string>>): boolean =>
  headers['content-type']?.startsWith('text/event-stream') ?? false;

/** @returns the number of seconds of page time until `isSo` */
const secondsUntil = async (page: TestPage, isSo: () => boolean): Promise<number> => {
  let seconds = 0;
  for (; !isSo(); seconds += 1) await page.passTime(1000);
  return seconds;
};

test('a page whose updates are postponed asks for them later, once', async () => {
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals', { now: browsed.dashboard.clock.now() });
  let asked = 0;
  await page.intercept((request) => {
    if (!asksForUpdates(request, path)) return undefined;
    asked += 1;
    if (asked > 1) return undefined;
    return { contentType: 'text/event-stream', body: 'event: later\ndata: 60\n\n' };
  });
  await page.goto(browsed.dashboard.origin + path);
  await until('it is told to come later', () => asked === 1);
  const following = page.raw.waitForResponse(
    (answer) => answer.url().endsWith(path) && isStream(answer.headers()),
  );
  expect(await secondsUntil(page, () => asked === 2)).toBeGreaterThanOrEqual(60);
  await following;
  await page.passTime(300_000);
  expect(asked).toBe(2);
});

test('a page whose updates are refused asks again after a minute, and then less and less often', async () => {
  const path = `/dashboard/projects/${slug}`;
  const page = await browsed.visit('/dashboard/animals', { now: browsed.dashboard.clock.now() });
  let asked = 0;
  await page.intercept((request) => {
    if (!asksForUpdates(request, path)) return undefined;
    asked += 1;
    return { status: 503, body: '' };
  });
  await page.goto(browsed.dashboard.origin + path);
  await until('it is refused', () => asked === 1);
  expect(await secondsUntil(page, () => asked === 2)).toBeGreaterThanOrEqual(60);
  expect(await secondsUntil(page, () => asked === 3)).toBeGreaterThanOrEqual(119);
});

test('a record can be copied', async () => {
  await addDomain('copy.birds.test');
  const page = await browsed.visit(`/dashboard/projects/${slug}/settings/domains/copy.birds.test`);
  const origin = browsed.dashboard.origin;
  for (const name of ['clipboard-read', 'clipboard-write'])
    await page.raw
      .browserContext()
      .setPermission(origin, { permission: { name }, state: 'granted' });
  await page.evaluate('window.setTimeout = () => 0');
  await page.role('button', 'Copy').click();
  await page.role('button', 'Copied').isShown();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('copy');
});

test('an upload shows its deploy, and a refused upload shows the reason', async () => {
  const page = await browsed.visit(`/dashboard/projects/${slug}`);
  const field = page.label('Site archive');
  const send = page.role('button', 'Deploy');
  await field.upload(zipOf([{ name: 'index.html' }]));
  await send.click();
  await page.role('status').words('The deploy succeeded.').isShown();
  await page
    .role('row')
    .has(/^\s*Deploy 2\s*served/)
    .isShown();

  await field.upload(zipOf([{ name: '../evil.html' }]));
  await send.click();
  await page.role('alert').words('Deploy 3 failed.').isShown();
  await page.words('Visitors still get deploy 2.').isShown();
});

test('an upload whose answer was lost makes no second deploy when it is sent again, but another file does', async () => {
  const path = `/dashboard/projects/${slug}`;
  const deploys = async () => (await sites().getSite(slug)).deploys.map(({ number }) => number);
  const [newest = 0] = await deploys();
  const chosen = async () => {
    const page = await browsed.visit(path);
    const archive = page.label('Site archive');
    await archive.upload(zipOf([{ name: 'index.html' }]));
    return { page, archive, send: page.role('button', 'Deploy') };
  };
  const lost = async (page: TestPage, number: number) => {
    const form = "document.querySelector('form[data-upload]')";
    const sent = `{ method: 'POST', body: new FormData(${form}) }`;
    await page.evaluate(`fetch(${form}.action, ${sent}).then(() => undefined)`);
    await page
      .role('row')
      .has(new RegExp(`^\\s*Deploy ${number}\\s*served`))
      .isShown();
  };
  const same = await chosen();
  await lost(same.page, newest + 1);
  await Promise.all([same.page.raw.waitForNavigation(), same.send.click()]);
  expect((await deploys())[0]).toBe(newest + 1);

  const other = await chosen();
  await lost(other.page, newest + 2);
  await other.archive.upload(zipOf([{ name: 'index.html' }, { name: 'more.html' }]));
  await other.send.click();
  await other.page.role('status').words('The deploy succeeded.').isShown();
  expect((await deploys())[0]).toBe(newest + 3);
});

test('the browser asks before a page is left whose upload is not over', async () => {
  const page = await browsed.visit(`/dashboard/projects/${slug}`);
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  await page.intercept(async (request) => {
    if (request.method() === 'POST') await held;
    return undefined;
  });
  const asks = () =>
    page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");
  await page.label('Site archive').upload(zipOf([{ name: 'index.html' }]));
  expect(await asks()).toBe(false);
  await page.role('button', 'Deploy').click();
  expect(await asks()).toBe(true);
  goOn();
  await page.role('status').words('The deploy succeeded.').isShown();
  expect(await asks()).toBe(false);
});

test('the browser asks before a page is left that still waits to send its file', async () => {
  const page = await browsed.visit('/dashboard/animals/import');
  const asks = () =>
    page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))");
  await page.evaluate('window.fetch = () => new Promise((_, reject) => (window.fail = reject))');
  await page.label('CSV file').upload(Buffer.from('name\nRex\n'), 'animals.csv');
  await page.role('button', 'Import').click();
  expect(await asks()).toBe(true);
  await page.evaluate("fail(new TypeError('offline'))");
  await page.role('alert').words('We cannot reach Animal Store.').isShown();
  expect(await asks()).toBe(false);
});

test('a form whose page is left at once is still sent, but makes no secret that nobody sees', async () => {
  const { dashboard, owner } = browsed;
  const leaveAtOnce = async (path: string, label: string, button: string): Promise<number> => {
    const page = await browsed.visit(path);
    await page.evaluate('window.fetch = () => new Promise(() => undefined)');
    await page.label(label).fill('Left at once');
    await page.role('button', button).click();
    const before = dashboard.log.length;
    await page.goto(`${dashboard.origin}/dashboard/usage`);
    const answered = () =>
      dashboard.log
        .slice(before)
        .map((line) => JSON.parse(line) as { method?: string; status: number })
        .find(({ method }) => method === 'POST');
    await until(`${button} is answered`, () => answered() !== undefined);
    return answered()!.status;
  };
  expect(await leaveAtOnce('/dashboard', 'Project name', 'New project')).toBe(303);
  expect(await leaveAtOnce('/dashboard/keys', 'Key name', 'Create key')).toBe(409);
  const keys = await dashboard.container.get(AccessKey).listApiKeys(owner.accountId);
  expect(keys.map(({ name }) => name)).not.toContain('Left at once');
});

test('a person who goes back to a form and changes it sends another one', async () => {
  const page = await browsed.visit('/dashboard');
  const key = "document.querySelector('main [name=once]').value";
  const first = await page.evaluate(key);
  for (const name of ['First of two', 'Second of two']) {
    // Some browsers show the page from their cache, where the key is the same.
    await page.evaluate(`void (${key} = ${JSON.stringify(first)})`);
    await page.label('Project name').fill(name);
    await page.role('button', 'New project').click();
    await page.role('heading', name).isShown();
    await page.raw.goBack();
  }
  const names = (await sites().listProjects(browsed.owner.accountId)).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['First of two', 'Second of two']));
});

test('pressing a button again while its form is being sent does nothing', async () => {
  const page = await browsed.visit('/dashboard/keys');
  const sent: string[] = [];
  page.raw.on('request', (request) => sent.push(request.method()));
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  await page.intercept(async (request) => {
    if (request.url().endsWith('/dashboard/keys')) await held;
    return undefined;
  });
  await page.label('Key name').fill('Rex');
  const button = page.role('button', 'Create key');
  await button.focus();
  const first = page.raw.waitForRequest((request) => request.method() === 'POST');
  await page.press('Enter');
  await first;
  await page.press('Enter');
  goOn();
  await page.words('It is not shown again').isShown();
  expect(sent.filter((method) => method === 'POST')).toHaveLength(1);
  expect(await page.role('row').has('Rex').count()).toBe(1);
});

test('a success message does not return after a reload', async () => {
  const page = await browsed.visit('/dashboard');
  await page.label('Project name').fill('Fish');
  await page.role('button', 'New project').click();
  await page.role('status').words('Project created.').isShown();
  await page.isAt('/dashboard/projects/fish');
  await page.raw.reload();
  await page.role('heading', 'Fish').isShown();
  expect(await page.role('status').count()).toBe(0);
});

test('a confirmation stays open while its page updates', async () => {
  const project = await sites().startProject(browsed.owner.accountId, 'Asked');
  const deploy = () => deployEntries(browsed.dashboard.container, project, entry('index.html'));
  await deploy();
  await deploy();
  const page = await browsed.visit(`/dashboard/projects/${project.slug}/deploys/1`);
  await page.css('[title="Delete deploy 1"]').click();
  await sites().renameProject(project, { name: 'Renamed' });
  await page.role('link', 'Renamed').isShown();
  await page.css('.danger').click();
  await page.words('The deploy was deleted.').isShown();
  expect(await page.css('#deploy-1').count()).toBe(0);
});

test('a folder that is dropped on the page is packed, and published with one button', async () => {
  const project = await sites().startProject(browsed.owner.accountId, 'Dropped');
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-dropped-'));
  await plainTree(join(folder, 'dist'), { 'index.html': '<h1>Rex</h1>', 'img/rex.txt': 'Rex' });
  await plainTree(join(folder, 'source'), { 'index.html': 'a', 'node_modules/a.js': 'a' });
  const page = await browsed.visit(`/dashboard/projects/${project.slug}`);
  const devtools = await page.raw.createCDPSession();
  const drop = async (name: string) => {
    const data = { items: [], files: [join(folder, name)], dragOperationsMask: 1 };
    const { x, y } = await (await page.raw.waitForSelector('form.drop'))!.clickablePoint();
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await devtools.send('Input.dispatchDragEvent', { type, x, y, data });
  };
  await drop('source');
  await page.words('It has "node_modules" at its top').isShown();
  await drop('dist');
  await page.words('2 files are packed').isShown();
  await page.role('button', 'Deploy').click();
  await page.words('The deploy succeeded.').isShown();
  const { deploys } = await sites().getSite(project.slug);
  expect(deploys).toMatchObject([{ files: 2, madeBy: expect.stringMatching(/^person:/) }]);
  await rm(folder, { recursive: true });
});

test('the script writes times in the same words as the server', async () => {
  const now = browsed.dashboard.clock.now();
  const page = await browsed.visit('/dashboard/sign-in', { cookie: undefined, now });
  const times = knownTimes.map(([ms]) => new Date(from.getTime() + ms).toISOString());
  await page.evaluate(`
    for (const relative of ['', 'plain']) {
      for (const dateTime of ${JSON.stringify(times)}) {
        const time = Object.assign(document.createElement('time'), { dateTime });
        time.dataset.relative = relative;
        document.body.append(time);
      }
    }`);
  await page.evaluate(`Date.now = () => ${from.getTime()}`);
  await page.passTime(1000);
  expect(await page.css('time').readAll()).toEqual([
    ...knownTimes.map(([, words, date]) => (date === '' ? words : `${words}, ${date}`)),
    ...knownTimes.map(([, words]) => words),
  ]);
});
