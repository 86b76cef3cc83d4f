import { expect, test } from '@jest/globals';
import type { HTTPRequest } from 'puppeteer-core';
import type { TestPage } from '../support/dashboard/page.ts';
import { AccessKey } from '../../src/app/keys.ts';
import { Notices } from '../../src/notifications/ports.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import type { Owner } from '../support/dashboard/running-dashboard.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { until } from '../support/until.ts';

const browsed = browseDashboard(() => Promise.resolve());
const path = '/dashboard/notices';

let told = 0;
/** @returns its title */
const tell = async (accountId = browsed.owner.accountId): Promise<string> => {
  const { container, clock } = browsed.dashboard;
  const name = `Key ${(told += 1)}`;
  const until = clock.now().toISOString();
  await container.get(Notices).add({
    ...{ id: `evt_${told}`, accountId, occurredAt: clock.now() },
    ...{ kind: 'key.banned', about: { keyId: 'key_1', name, until } },
  });
  return `The API key ${name} was banned for a while`;
};

const bellIn = (text: string) => /data-bell><button[^>]* aria-label="([^"]*)"/.exec(text)?.[1];
const bellOf = async (visitor: DashboardVisitor) => bellIn((await visitor.get('/dashboard')).text);
const isBell = (request: HTTPRequest) => request.url().endsWith('/bell');
const bellOn = (page: TestPage, name: string) => page.role('button', name);

test('the bell on each page says how many notices are unread, and pressing it marks them as read', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  expect(await bellOf(visitor)).toBe('Notices');
  const titles = [await tell(accountId), await tell(accountId)];
  for (const page of ['/dashboard', '/dashboard/account', '/dashboard/nowhere', path]) {
    expect(bellIn((await visitor.get(page)).text)).toBe('Notices, 2 unread');
  }
  const { status, location } = await visitor.post(path);
  expect([status, location]).toEqual([303, `${path}?since=0`]);
  const { text } = await visitor.get(location!);
  expect(bellIn(text)).toBe('Notices');
  for (const title of titles)
    expect(text).toContain(`${title}<span class="visually-hidden"> (new)`);
  expect((await visitor.post(path)).location).toBe(path);
});

test('a page that a browser loads ahead marks nothing as read', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  await tell(accountId);
  await visitor.get(path, { 'Sec-Purpose': 'prefetch' });
  await visitor.get(path);
  expect(await bellOf(visitor)).toBe('Notices, 1 unread');
});

test('what one person has read is still unread for a colleague', async () => {
  const { dashboard } = browsed;
  const { visitor, accountId }: Owner = await dashboard.newOwner();
  const email = `colleague-of-${accountId}@zoo.example`;
  await dashboard.container.get(AccessKey).invite(accountId, email);
  const colleague = await dashboard.signIn(email);
  await tell(accountId);
  await visitor.post(path);
  expect([await bellOf(visitor), await bellOf(colleague)]).toEqual([
    ...['Notices', 'Notices, 1 unread'],
  ]);
});

test('notices of another account do not exist', async () => {
  const [mine, other] = [await browsed.dashboard.newOwner(), await browsed.dashboard.newOwner()];
  const title = await tell(other.accountId);
  expect(await bellOf(mine.visitor)).toBe('Notices');
  expect((await mine.visitor.get(path)).text).not.toContain(title);
});

test('many notices are shown a page at a time, and counted up to 99', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  const titles: string[] = [];
  for (let n = 0; n < 101; n += 1) titles.unshift(await tell(accountId));
  expect(await bellOf(visitor)).toBe('Notices, 99+ unread');
  let seen = '';
  let [pages, next]: [number, string | undefined] = [0, path];
  while (next !== undefined) {
    const { text } = await visitor.get(next);
    seen += text;
    pages += 1;
    next = /<a href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect(pages).toBe(5);
  expect([...seen.matchAll(/<h2>([^<]*)/g)].map(([, title]) => title)).toEqual(titles);
});

test.each(['0x1', '-1', '9'.repeat(30), ' ', '<b>'])(
  'a page of notices with the odd position "%s" is the first one',
  async (position) => {
    const query = new URLSearchParams({ before: position, since: position });
    const { status, text } = await browsed.owner.visitor.get(`${path}?${String(query)}`);
    expect(status).toBe(200);
    expect(text).not.toContain('There are no older notices');
  },
);

test('without scripts, the bell leads to the notices, which it marks as read', async () => {
  const title = await tell();
  const page = await browsed.visit('/dashboard', { javaScript: false });
  await page.role('button', /^Notices, \d+ unread$/).click();
  await page.role('heading', `${title} (new)`).isShown();
  await bellOn(page, 'Notices').isShown();
  await page.role('link', 'Lift the ban').click();
  await page.role('heading', 'API keys').isShown();
});

test('with scripts, the bell counts while a page is open, and looking at the notices marks them as read', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  const look = { cookie: visitor.cookie };
  const elsewhere = await browsed.visit('/dashboard/usage', look);
  await tell(accountId);
  await bellOn(elsewhere, 'Notices, 1 unread').isShown();
  const page = await browsed.visit(path, look);
  await bellOn(page, 'Notices').isShown();
  await bellOn(elsewhere, 'Notices').isShown();
  await page.words(await tell(accountId)).isShown();
  await until('the next one is read too', async () => (await bellOf(visitor)) === 'Notices');
  await bellOn(page, 'Notices').isShown();
});

test('a page that is not live follows the bell while somebody sees it, and is right as soon as they are back', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  const page = await browsed.visit('/dashboard/keys', { cookie: visitor.cookie });
  const turn = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${String(isHidden)}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`,
    );
  await tell(accountId);
  await bellOn(page, 'Notices, 1 unread').isShown();
  const left = page.happens('requestfailed', isBell);
  await turn(true);
  await left;
  await visitor.post(path);
  await turn(false);
  await bellOn(page, 'Notices').isShown();
  await tell(accountId);
  await bellOn(page, 'Notices, 1 unread').isShown();
});

test('the end of a session elsewhere leaves what somebody types on a page that is not live', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  const page = await browsed.visit('/dashboard/keys', { cookie: visitor.cookie });
  await page.label('Key name').fill('Till');
  await tell(accountId);
  await bellOn(page, 'Notices, 1 unread').isShown();
  // The browser and the service both close it: whoever is first.
  const over = Promise.race([
    page.happens('requestfailed', isBell),
    page.happens('requestfinished', isBell),
  ]);
  await visitor.post('/dashboard/sign-out');
  await over;
  expect(await page.label('Key name').read('value')).toBe('Till');
});
