import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AccessKey, NotificationsKey } from '../../src/app/keys.ts';
import { Sealer } from '../../src/kernel/sealer.ts';
import { unsubscribeToken } from '../../src/notifications/use-cases/unsubscribe.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
let personId: string;
let path: string;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  owner = await dashboard.newOwner();
  personId = (await dashboard.container.get(AccessKey).listPeople(owner.accountId))[0]!.id;
  const sealer = dashboard.container.get(Sealer);
  const token = unsubscribeToken({ sealer }, personId, ['key.banned', 'domain.live']);
  path = `/dashboard/unsubscribe?token=${token}`;
});

const off = async () => [
  ...(await dashboard.container.get(NotificationsKey).mailKindsOff(personId)),
];
const post = (headers: Readonly<Record<string, string>> = {}, at = path) =>
  dashboard.stranger().send(at, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: 'List-Unsubscribe=One-Click',
  });

test('a link only asks, however often it is opened', async () => {
  for (let times = 0; times < 2; times += 1) {
    const { status, text: body } = await dashboard.stranger().get(path);
    expect(status).toBe(200);
    expect(body).toContain('A custom domain went live.');
    expect(body.match(/<button class="main"/g)).toHaveLength(1);
  }
  expect(await off()).toEqual([]);
});

test.each([
  [{}],
  [{ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://mail.example' }],
  [{ 'Content-Type': 'multipart/form-data; boundary=x' }],
])('one click ends the mails, without signing in (%j)', async (headers) => {
  const { status, text: body } = await post(headers);
  expect(status).toBe(200);
  expect(body).toContain('You are unsubscribed');
  expect(await off()).toEqual(expect.arrayContaining(['key.banned', 'domain.live']));
  expect((await post(headers)).status).toBe(200);
});

test('a person who is signed in as somebody else ends the mails of whom the link was sent to', async () => {
  const other = await dashboard.newOwner();
  await other.visitor.send(path, { method: 'POST', headers: { 'Sec-Fetch-Site': 'none' } });
  expect(await off()).toHaveLength(2);
});

test.each([
  ['none', ''],
  ['one that was changed', '?token=v1.AAAA'],
  ['a sealed value of another purpose', '?token=PURPOSE'],
])('no mail ends by a token that is %s', async (_what, query) => {
  const sealed = dashboard.container.get(Sealer).seal(`${personId} key.banned`, 'something else');
  const at = `/dashboard/unsubscribe${query.replace('PURPOSE', sealed)}`;
  expect((await post({}, at)).status).toBe(404);
  expect((await dashboard.stranger().get(at)).status).toBe(404);
  expect(await off()).toEqual([]);
});
