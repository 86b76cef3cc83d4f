import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDashboard, type RunningDashboard } from '../support/dashboard/running-dashboard.ts';

const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let dashboard: RunningDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard.close());

test.each(['/', '/?utm_source=letter'])(
  'a browser that asks for %s gets the dashboard',
  async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const answer = await dashboard.stranger().send(path, { method, headers: browser });
      expect(answer).toMatchObject({ status: 303, location: '/dashboard' });
    }
  },
);

test.each([{ Accept: '*/*' }, { Accept: 'application/json' }])(
  'a client that accepts %j gets a 404 from the API',
  async (headers) => {
    const { status, text } = await dashboard.stranger().get('/', headers);
    expect([status, JSON.parse(text)]).toMatchObject([404, { code: 'route_not_found' }]);
  },
);

test('only requests for pages are redirected', async () => {
  const elsewhere = await dashboard.stranger().get('/elsewhere', browser);
  const sent = await dashboard.stranger().post('/', {}, browser);
  expect([elsewhere.status, sent.status]).toEqual([404, 404]);
});

test('a process without the dashboard redirects nothing', async () => {
  const api = await startDashboard({ settings: { ROLES: 'api' } });
  expect((await api.stranger().get('/', browser)).status).toBe(404);
  await api.close();
});
