import { expect, test } from '@jest/globals';
import { AccessKey, NotificationsKey } from '../../src/app/keys.ts';
import { Mails } from '../../src/notifications/mail-ports.ts';
import type { NotificationKind } from '../../src/notifications/domain/notification.ts';
import { browseDashboard } from '../support/dashboard/dashboard-page.ts';
import { startDashboard } from '../support/dashboard/running-dashboard.ts';
import { everyKind } from '../support/notifications.ts';

const browsed = browseDashboard(() => Promise.resolve(), {
  settings: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'store@shop.example' },
});
const path = '/dashboard/account';
const notifications = () => browsed.dashboard.container.get(NotificationsKey);
const personOf = async (accountId: string, email: string): Promise<string> => {
  const people = await browsed.dashboard.container.get(AccessKey).listPeople(accountId);
  return people.find((one) => one.email === email)!.id;
};
const offOf = async (accountId: string, email: string) =>
  [...(await notifications().mailKindsOff(await personOf(accountId, email)))].toSorted();

test('without scripts, a person chooses which mails to get, and a colleague keeps theirs', async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const colleague = `colleague-of-${accountId}@zoo.example`;
  await browsed.dashboard.container.get(AccessKey).invite(accountId, colleague);
  const page = await browsed.visit(path, { javaScript: false, cookie: visitor.cookie });
  const live = page.label('A custom domain went live.');
  const banned = page.label('The ban of an API key begins.');
  expect([await live.read('checked'), await banned.read('checked')]).toEqual([true, true]);
  await live.tick(false);
  await banned.tick(false);
  await page.role('button', 'Save mail settings').click();
  await page.words('Your mail settings are saved.').isShown();
  expect([await live.read('checked'), await banned.read('checked')]).toEqual([false, false]);
  expect(await offOf(accountId, email)).toEqual(['domain.live', 'key.banned']);
  expect(await offOf(accountId, colleague)).toEqual([]);
  await live.tick();
  await page.role('button', 'Save mail settings').click();
  await page.words('Your mail settings are saved.').isShown();
  expect(await offOf(accountId, email)).toEqual(['key.banned']);
});

test('mails about the own access are listed, and cannot be switched off', async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const { text } = await visitor.get(path);
  expect(text).toContain('<li>Your password was changed.</li>');
  expect(text).not.toContain('value="password.changed"');
  await visitor.post(`${path}/mail`, { shown: 'password.changed,domain.live', on: '' });
  expect(await offOf(accountId, email)).toEqual(['domain.live']);
});

test('each kind that owners are told of has a box', async () => {
  const { visitor } = await browsed.dashboard.newOwner();
  const { text } = await visitor.get(path);
  const boxes = [...text.matchAll(/name="on" value="([^"]*)"/g)].map(([, kind]) => kind);
  const personal = ['person.invited', 'sign_in.link', 'password.changed'];
  const kinds = everyKind().map(({ kind }): string => kind);
  expect(boxes.toSorted()).toEqual(kinds.filter((kind) => !personal.includes(kind)).toSorted());
});

test('a form that is older than a kind leaves it as it was, and what is no kind is ignored', async () => {
  const { accountId, email, visitor } = await browsed.dashboard.newOwner();
  const off = new Set<NotificationKind>(['deploy.failed', 'domain.live']);
  await notifications().chooseMail(await personOf(accountId, email), off);
  const shown = 'domain.live,domain.removed,constructor,<b>';
  const { status } = await visitor.post(`${path}/mail`, { shown, on: 'domain.live' });
  expect(status).toBe(303);
  expect(await offOf(accountId, email)).toEqual(['deploy.failed', 'domain.removed']);
  await visitor.post(`${path}/mail`);
  expect(await offOf(accountId, email)).toEqual(['deploy.failed', 'domain.removed']);
});

test('an address that refuses mail says so beside its person, with the reason', async () => {
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
  const { text } = await visitor.get(path);
  expect(text).toMatch(/Mail to this address has been refused since .*: 550 &lt;no such user&gt;</);
  const other = await browsed.dashboard.newOwner();
  expect((await other.visitor.get(path)).text).not.toContain('has been refused since');
  await mails.add({ ...mail, id: `${id}_2` }, now, () => ({ message: `${id}_2`, sendAt: now }));
  const reason = 'connect ECONNREFUSED 10.0.0.5:587';
  await mails.giveUp(await claimed(`${id}_2`), now, { kind: 'late', reason });
  const later = (await visitor.get(path)).text;
  expect(later).toContain('We have not been able to send mail to this address since');
  expect(later).not.toMatch(/refused since|10\.0\.0\.5/);
});

test('an installation without a mail server says so, and offers no choice', async () => {
  const dashboard = await startDashboard();
  try {
    const { visitor } = await dashboard.newOwner();
    const { text } = await visitor.get(path);
    expect(text).toContain('This installation sends no mail.');
    expect(text).not.toContain('Save mail settings');
  } finally {
    await dashboard.close();
  }
});
