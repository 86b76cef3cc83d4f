import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rawRequest } from '../support/http/raw-request.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard();
  owner = await dashboard.newOwner();
});
afterAll(() => dashboard.close());

const secretOf = (link: string): string => link.replace(/.*\//, '');

describe.each([
  ['in capitals', (secret: string) => `/DASHBOARD/SIGN-IN/${secret}`],
  ['with capitals', (secret: string) => `/dashboard/Sign-In/${secret}`],
  ['with its first part in another case', (secret: string) => `/Dashboard/sign-in/${secret}`],
  ['with an escaped letter', (secret: string) => `/%64ashboard/sign-in/${secret}`],
  ['with another escaped letter', (secret: string) => `/dashboard/%73ign-in/${secret}`],
  ['as a whole address', (secret: string) => `http://zoo.example/Dashboard/sign-in/${secret}`],
])('a sign-in link that is written %s', (_, written) => {
  test('does not sign in, and its secret is not in the log', async () => {
    const secret = secretOf(await dashboard.linkFor(owner.email));
    const answer = await rawRequest(dashboard.origin, [
      `GET ${written(secret)} HTTP/1.1`,
      'Host: zoo.example',
      'Connection: close',
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).not.toMatch(/set-cookie/i);
    expect(dashboard.log.filter((line) => line.includes(secret))).toEqual([]);
    const right = await dashboard.stranger().get(`/dashboard/sign-in/${secret}`);
    expect(right.status).toBe(303);
  });
});

test('the log shows no secret of a link that was used, sent as a referrer or requested again', async () => {
  const secret = secretOf(await dashboard.linkFor(owner.email));
  const before = dashboard.log.length;
  const visitor = dashboard.stranger();
  await visitor.get(`/dashboard/sign-in/${secret}`);
  await visitor.get('/dashboard', { Referer: `${dashboard.origin}/dashboard/sign-in/${secret}` });
  await visitor.send(`/dashboard/sign-in/${secret}`, { method: 'HEAD' });
  await visitor.get(`/v1/dashboard/sign-in/${secret}`);
  const lines = dashboard.log.slice(before);
  expect(lines.length).toBeGreaterThanOrEqual(4);
  expect(lines.filter((line) => line.includes(secret))).toEqual([]);
});

test('the paths of other pages are case-sensitive too', async () => {
  for (const path of ['/dashboard/Keys', '/DASHBOARD', '/dashboard/KEYS'])
    expect((await owner.visitor.get(path)).status).toBe(404);
  expect((await owner.visitor.get('/dashboard/keys')).status).toBe(200);
});
