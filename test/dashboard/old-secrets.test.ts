import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AccessKey } from '../../src/app/keys.ts';
import { textOf } from '../support/dashboard/markup.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';

let dashboard: RunningDashboard;
let owner: Owner;
let keyId: string;
beforeAll(async () => {
  dashboard = await startDashboard({ now: new Date('2026-03-01T16:19:00Z') });
  owner = await dashboard.newOwner();
  const access = dashboard.container.get(AccessKey);
  keyId = (await access.listApiKeys(owner.accountId))[0]?.id ?? '';
});
afterAll(() => dashboard.close());

const rotate = (overlap: '1h' | '24h') =>
  dashboard.container.get(AccessKey).rotateApiKey(keyId, overlap);
const page = async () => textOf((await owner.visitor.get('/dashboard/keys')).text);

test('a key shows until when its old secret is valid, as long as it is', async () => {
  expect(await page()).not.toContain('old secret valid');
  await rotate('24h');
  expect(await page()).toContain('old secret valid until 2026-03-02 16:19 UTC');
  await rotate('1h');
  expect(await page()).toContain('old secret valid until 17:19 UTC');
  dashboard.clock.advance(3_600_000);
  expect(await page()).not.toContain('old secret valid');
});

test('the notice carries its end time, so that an open page can remove it', async () => {
  await rotate('1h');
  const { text } = await owner.visitor.get('/dashboard/keys');
  expect(text).toContain('data-until="2026-03-01T18:19:00.000Z"');
});

test('a revoked key shows no valid old secret', async () => {
  await rotate('1h');
  await dashboard.container.get(AccessKey).revokeApiKey(keyId);
  expect(await page()).not.toContain('old secret valid');
});
