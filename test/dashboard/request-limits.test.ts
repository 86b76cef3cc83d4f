import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { dashboardLimits, type DashboardUse } from '../../src/access/domain/session.ts';
import { AccessKey } from '../../src/app/keys.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  owner = await dashboard.newOwner();
});

/** As if it had been asked over the wire. */
const useUp = async (use: DashboardUse): Promise<void> => {
  const access = dashboard.container.get(AccessKey);
  const signedIn = await access.findSession(owner.visitor.cookie!.split('=')[1]!);
  for (let n = 0; n < dashboardLimits[use]; n++) await access.admitUse(signedIn!, use);
};

test('too many page requests get a page that says when to come back', async () => {
  await useUp('pages');
  const refused = await owner.visitor.get('/dashboard/usage');
  expect(refused.status).toBe(429);
  const seconds = refused.headers.get('Retry-After') ?? '';
  expect(seconds).toMatch(/^\d{1,2}$/);
  expect(refused.text).toContain('<h1>Too many requests</h1>');
  expect(refused.text).toContain(`Try again in ${seconds} second`);
  // What is never refused: the way out, and the styles of the page that says so.
  expect((await owner.visitor.get('/dashboard/assets/none')).status).toBe(404);
  dashboard.clock.advance(60_000);
  expect((await owner.visitor.get('/dashboard/usage')).status).toBe(200);
});

test('too many forms are refused, and pages still load', async () => {
  await useUp('forms');
  const { status, headers } = await owner.visitor.post('/dashboard', { name: 'Late' });
  expect([status, Number(headers.get('Retry-After')) > 0]).toEqual([429, true]);
  const { text } = await owner.visitor.get('/dashboard');
  expect(text).not.toContain('Late');
  expect((await owner.visitor.post('/dashboard/sign-out')).status).toBe(303);
});

test('live pages have their own limit, and one person does not use up the limit of others', async () => {
  const other = await dashboard.newOwner({ name: 'Birds' });
  await useUp('streams');
  const stream = { Accept: 'text/event-stream' };
  expect((await owner.visitor.get('/dashboard', stream)).status).toBe(429);
  expect((await owner.visitor.get('/dashboard')).status).toBe(200);
  expect((await other.visitor.get('/dashboard')).status).toBe(200);
});
