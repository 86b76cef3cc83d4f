import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import type { HTTPRequest } from 'puppeteer-core';
import { renderMail, type RenderedMail } from '../../src/adapters/mail/mail-html.ts';
import { AccessKey, NotificationsKey } from '../../src/app/keys.ts';
import { StoredSignal } from '../../src/kernel/signals.ts';
import type { NotificationKind } from '../../src/notifications/domain/notification.ts';
import { Mails, Notices } from '../../src/notifications/ports.ts';
import { startMailbox, type Mailbox } from '../lab/mailbox.ts';
import { browserStartMs, startBrowser, type TestBrowser } from '../support/dashboard/browser.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import type { TestPage } from '../support/dashboard/page.ts';
import { startDashboard, type Owner } from '../support/dashboard/running-dashboard.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { ownersKinds } from '../../src/notifications/domain/kinds.ts';
import { everyKind } from '../support/notifications.ts';
import { until } from '../support/until.ts';

const browsed = browseDashboard(() => Promise.resolve(), {
  settings: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'store@shop.example' },
});
const path = '/dashboard/notices';

let told = 0;
const tell = async (accountId = browsed.owner.accountId): Promise<string> => {
  const { container, clock } = browsed.dashboard;
  const name = `Key ${(told += 1)}`;
  const until = clock.now().toISOString();
  await container.get(Notices).add({
    id: `evt_${told}`,
    accountId,
    occurredAt: clock.now(),
    kind: 'key.banned',
    about: { keyId: 'key_1', name, until },
  });
  ring(accountId);
  return `The API key ${name} was banned for a while`;
};
const ring = (accountId: string) =>
  browsed.dashboard.container.get(StoredSignal).raise([accountId], false);

const bellIn = (text: string) => /data-bell><button[^>]* aria-label="([^"]*)"/.exec(text)?.[1];
const bellOf = async (visitor: DashboardVisitor) => bellIn((await visitor.get('/dashboard')).text);
const isBell = (request: HTTPRequest) => request.url().endsWith('/bell');
const bellOn = (page: TestPage, name: string) => page.role('button', name);

test('the bell on each page shows the number of unread notices, and pressing it marks them as read', async () => {
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

test('a page that a browser prefetches marks nothing as read', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  await tell(accountId);
  await visitor.get(path, { 'Sec-Purpose': 'prefetch' });
  await visitor.get(path);
  expect(await bellOf(visitor)).toBe('Notices, 1 unread');
});

test('notices that one person has read are still unread for a colleague', async () => {
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
  'the page for the invalid notice position "%s" is the first one',
  async (position) => {
    const query = new URLSearchParams({ before: position, since: position });
    const { status, text } = await browsed.owner.visitor.get(`${path}?${String(query)}`);
    expect(status).toBe(200);
    expect(text).not.toContain('There are no older notices');
  },
);

test('with scripts, the bell is updated while a page is open, and viewing the notices marks them as read', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  const look = { cookie: visitor.cookie };
  const elsewhere = await browsed.visit('/dashboard/usage', look);
  await tell(accountId);
  await bellOn(elsewhere, 'Notices, 1 unread').isShown();
  const allRead = async () => {
    await until('all are read', async () => (await bellOf(visitor)) === 'Notices');
    ring(accountId);
  };
  const page = await browsed.visit(path, look);
  await allRead();
  await bellOn(page, 'Notices').isShown();
  await bellOn(elsewhere, 'Notices').isShown();
  await page.words(await tell(accountId)).isShown();
  await allRead();
  await bellOn(page, 'Notices').isShown();
});

test('the bell of a page that is not live is updated while the page is visible, and at once when it becomes visible', async () => {
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

test('a page that is not live keeps typed text when its session ends elsewhere', async () => {
  const { visitor, accountId } = await browsed.dashboard.newOwner();
  const page = await browsed.visit('/dashboard/keys', { cookie: visitor.cookie });
  await page.label('Key name').fill('Till');
  await tell(accountId);
  await bellOn(page, 'Notices, 1 unread').isShown();
  // Either the browser or the service closes it first.
  const over = Promise.race([
    page.happens('requestfailed', isBell),
    page.happens('requestfinished', isBell),
  ]);
  await visitor.post('/dashboard/sign-out');
  await over;
  expect(await page.label('Key name').read('value')).toBe('Till');
});

const account = '/dashboard/me';
const notifications = () => browsed.dashboard.container.get(NotificationsKey);
const personOf = async (accountId: string, email: string): Promise<string> => {
  const people = await browsed.dashboard.container.get(AccessKey).listPeople(accountId);
  return people.find((one) => one.email === email)!.id;
};
const offOf = async (accountId: string, email: string) =>
  [...(await notifications().mailKindsOff(await personOf(accountId, email)))].toSorted();

test("a person chooses which mails to get, and a colleague's choice stays the same", async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const colleague = `colleague-of-${accountId}@zoo.example`;
  await browsed.dashboard.container.get(AccessKey).invite(accountId, colleague);
  const ticked = async () => {
    const { text } = await visitor.get(account);
    return [...text.matchAll(/name="on" value="([^"]*)" checked/g)].map(([, kind]) => kind!);
  };
  const all = await ticked();
  const on = all.filter((kind) => kind !== 'domain.live' && kind !== 'key.banned');
  await visitor.post(`${account}/mail`, { shown: all.join(), on: on.join() });
  expect(await ticked()).toEqual(on);
  expect(await offOf(accountId, email)).toEqual(['domain.live', 'key.banned']);
  expect(await offOf(accountId, colleague)).toEqual([]);
  await visitor.post(`${account}/mail`, { shown: all.join(), on: [...on, 'domain.live'].join() });
  expect(await offOf(accountId, email)).toEqual(['key.banned']);
});

test("mails about a person's own access are listed and cannot be switched off", async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const { text } = await visitor.get(account);
  expect(text).toContain('<li>Your password was changed.</li>');
  expect(text).not.toContain('value="password.changed"');
  await visitor.post(`${account}/mail`, { shown: 'password.changed,domain.live', on: '' });
  expect(await offOf(accountId, email)).toEqual(['domain.live']);
});

test('the form has a checkbox for each kind of mail for owners', async () => {
  const { visitor } = await browsed.dashboard.newOwner();
  const { text } = await visitor.get(account);
  const boxes = [...text.matchAll(/name="on" value="([^"]*)"/g)].map(([, kind]) => kind);
  expect(boxes.toSorted()).toEqual(ownersKinds.toSorted());
});

test('an outdated form leaves a newer kind of mail unchanged, and unknown kinds are ignored', async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const off = new Set<NotificationKind>(['deploy.failed', 'domain.live']);
  await notifications().chooseMail(await personOf(accountId, email), off);
  const shown = 'domain.live,domain.removed,constructor,<b>';
  const { status } = await visitor.post(`${account}/mail`, { shown, on: 'domain.live' });
  expect(status).toBe(303);
  expect(await offOf(accountId, email)).toEqual(['deploy.failed', 'domain.removed']);
  await visitor.post(`${account}/mail`);
  expect(await offOf(accountId, email)).toEqual(['deploy.failed', 'domain.removed']);
});

test('the page shows for each person whether their address refuses mail, and the reason', async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const { clock, container } = browsed.dashboard;
  const [mails, now] = [container.get(Mails), clock.now()];
  const [told] = everyKind();
  const id = `mail_of_${accountId}`;
  const personId = await personOf(accountId, email);
  const mail = { ...told!, id, accountId, personId, to: email, occurredAt: now };
  await mails.add(mail, now, () => ({ message: id, sendAt: now }));
  const claimed = async (message: string) => {
    const due = await mails.claim(now, new Date(now.getTime() + 1000), { limit: 10 });
    return due.find((one) => one.id === message)!;
  };
  await mails.giveUp(await claimed(id), now, { kind: 'refused', reason: '550 <no such user>' });
  const people = '/dashboard/account/people';
  const { text } = await visitor.get(people);
  expect(text).toMatch(/Mail to this address has been refused since .*: 550 &lt;no such user&gt;</);
  const other = await browsed.dashboard.newOwner();
  expect((await other.visitor.get(people)).text).not.toContain('has been refused since');
  await mails.add({ ...mail, id: `${id}_2` }, now, () => ({ message: `${id}_2`, sendAt: now }));
  const reason = 'connect ECONNREFUSED 10.0.0.5:587';
  await mails.giveUp(await claimed(`${id}_2`), now, { kind: 'late', reason });
  const later = (await visitor.get(people)).text;
  expect(later).toContain('We have not been able to send mail to this address since');
  expect(later).not.toMatch(/refused since|10\.0\.0\.5/);
});

test('the page says when an installation has no mail server, and then offers no choice', async () => {
  const dashboard = await startDashboard();
  try {
    const { visitor } = await dashboard.newOwner();
    const { text } = await visitor.get(account);
    expect(text).toContain('This installation sends no mail.');
    expect(text).not.toContain('Save mail settings');
  } finally {
    await dashboard.close();
  }
});

describe('mails in the lab', () => {
  const envelope = { account: 'Happy Paws – Zoë', origin: 'https://store.example' };
  const [live] = everyKind();
  const mail = renderMail({ ...live!, ...envelope });

  let mailbox: Mailbox;
  let browser: TestBrowser;
  beforeAll(async () => {
    mailbox = await startMailbox();
    browser = await startBrowser(new URL(mailbox.url).origin);
  }, browserStartMs);
  afterAll(async () => {
    await browser.closePages();
    await mailbox.close();
  });

  const send = async (one: Partial<RenderedMail>): Promise<void> => {
    const transport = createTransport(mailbox.smtpUrl);
    const from = 'Animal Store <lab@platform.test>';
    await transport.sendMail({ from, to: 'keeper@zoo.example', ...one });
    transport.close();
  };

  const open = async (): Promise<TestPage> => {
    const page = await browser.open();
    await page.goto(mailbox.url);
    return page;
  };

  const inMail = <T>(page: TestPage, script: string): Promise<T> =>
    until(`the mail answers ${script}`, async () => {
      const mail = page.raw.frames().find((one) => one.url().endsWith('/content'));
      return (await mail?.evaluate(script).catch(() => undefined)) as T | undefined;
    });

  test('are shown as HTML, as on a phone, as text and as source', async () => {
    const page = await open();
    await page.words('No mail yet.').isShown();
    await send(mail);
    await page.raw.reload();
    await page.words('to keeper@zoo.example').isShown();
    await page.role('link', mail.subject).click();
    await inMail(page, "document.body.innerText.includes('shop.birds.test is live')");
    await page.role('link', 'As phone').click();
    await inMail(page, "document.body.innerText.includes('Show the domain')");
    expect(await page.evaluate('document.querySelector("iframe").clientWidth')).toBe(360);
    await page.role('link', 'Text').click();
    expect((await page.css('pre').read('textContent')).trim()).toBe(mail.text.trim());
    await page.role('link', 'Source').click();
    await page.words('Content-Type: multipart/alternative').isShown();
  });

  test('load nothing and run nothing', async () => {
    await send({ subject: 'Hostile', html: '<script>alert(1)</script>' });
    const { headers } = await fetch(`${mailbox.url}2/content`);
    expect(headers.get('Content-Security-Policy')).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'",
    );
  });
});
