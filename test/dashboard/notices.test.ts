import { afterAll, beforeAll, expect, test } from '@jest/globals';
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

test('a page says what one of its forms did', async () => {
  const { text } = await owner.visitor.get('/dashboard/keys?done=revoked');
  expect(text).toContain('role="status">The key is revoked.');
});

test.each(['nothing', '', 'constructor', 'toString', '__proto__'])(
  'a page ignores %j, because none of its forms does it',
  async (done) => {
    const { status, text } = await owner.visitor.get(`/dashboard/keys?done=${done}`);
    expect(status).toBe(200);
    expect(text).not.toContain('role="status"');
  },
);
