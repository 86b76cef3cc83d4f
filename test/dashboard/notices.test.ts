import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { doneBy } from '../../src/adapters/dashboard/frame/done.ts';
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

/** A link that this session wrote. */
const done = (code: string): string =>
  `/dashboard/keys?done=${doneBy(owner.visitor.cookie?.split('=')[1] ?? '', code)}`;

test('a page says what one of its forms did, and nothing of what a link from elsewhere claims', async () => {
  const { text } = await owner.visitor.get(done('revoked'));
  expect(text).toContain('role="status">The key is revoked.');
  const other = await dashboard.newOwner();
  for (const path of [done('revoked'), '/dashboard/keys?done=revoked']) {
    const claimed = await other.visitor.get(path);
    expect(claimed.text).not.toContain('role="status"');
  }
});

test.each(['nothing', '', 'constructor', 'toString', '__proto__'])(
  'a page ignores %j, because none of its forms does it',
  async (code) => {
    const { status, text } = await owner.visitor.get(done(code));
    expect(status).toBe(200);
    expect(text).not.toContain('role="status"');
  },
);
