import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { uploadSlots } from '../../src/adapters/dashboard/projects/upload-slots.ts';
import { ConfigKey, SitesKey } from '../../src/app/keys.ts';
import { connectTo, partEnd, partHead, uploadHead } from '../support/http/raw-upload.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { until } from '../support/until.ts';

let dashboard: RunningDashboard;
const slow: Socket[] = [];
beforeEach(async () => {
  dashboard = await startDashboard();
});
afterEach(async () => {
  for (const socket of slow.splice(0)) socket.destroy();
  await dashboard.close();
});

const projectOf = async ({ accountId }: Owner): Promise<string> => {
  const { slug } = await dashboard.container.get(SitesKey).startProject(accountId, 'Birds');
  return `/dashboard/projects/${slug}/deploys`;
};

/** What is being uploaded lies in a file each. */
const underWay = async (): Promise<number> => {
  const folder = join(dashboard.container.get(ConfigKey).dataDir, 'uploads');
  return (await readdir(folder).catch(() => [])).length;
};

/** Sends the beginning of a file and no more. @returns once the server takes it */
const uploadSlowly = async (path: string, { visitor }: Owner): Promise<void> => {
  const socket = await connectTo(dashboard.origin);
  slow.push(socket);
  socket.write(`${uploadHead(path, visitor, 9999)}${partHead}PK`);
  await until('it is under way', async () => (await underWay()) === slow.length);
};

/** Sends a whole file, more than fits into any buffer, and says with the last byte that nothing more comes. */
const uploadAndHangUp = async (path: string, { visitor }: Owner): Promise<void> => {
  const socket = await connectTo(dashboard.origin);
  const body = `${partHead}${'x'.repeat(4_000_000)}${partEnd}`;
  socket.end(`${uploadHead(path, visitor, body.length)}${body}`);
  await once(socket, 'close');
};

const upload = (path: string, { visitor }: Owner) => {
  const body = new FormData();
  body.set('archive', new Blob(['no archive']), 'a.zip');
  return visitor.send(path, { method: 'POST', body, headers: { 'Sec-Fetch-Site': 'same-origin' } });
};

test('an account can upload two sites at once, and does not delay others', async () => {
  const [one, other] = [await dashboard.newOwner(), await dashboard.newOwner()];
  const [path, otherPath] = [await projectOf(one), await projectOf(other)];
  await uploadSlowly(path, one);
  await uploadSlowly(path, one);
  const third = await upload(path, one);
  expect([third.status, third.headers.get('Retry-After')]).toEqual([503, '30']);
  expect(third.text).toContain('Other uploads are in progress.');
  expect((await upload(otherPath, other)).status).toBe(303);
});

test('two accounts cannot hold all the places', async () => {
  for (const owner of [await dashboard.newOwner(), await dashboard.newOwner()]) {
    const path = await projectOf(owner);
    await uploadSlowly(path, owner);
    await uploadSlowly(path, owner);
  }
  const late = await dashboard.newOwner();
  expect((await upload(await projectOf(late), late)).status).toBe(303);
});

test('a process limits its uploads at once, and every ended upload frees its place', async () => {
  for (let taken = 0; taken < uploadSlots.receiving.all; taken += 2) {
    const owner = await dashboard.newOwner();
    const path = await projectOf(owner);
    await uploadSlowly(path, owner);
    await uploadSlowly(path, owner);
  }
  const late = await dashboard.newOwner();
  const path = await projectOf(late);
  expect((await upload(path, late)).status).toBe(503);
  slow.pop()!.destroy();
  await until('there is room again', async () => (await upload(path, late)).status === 303);
});

test('a sender that closes its side right after the last byte frees its place', async () => {
  const owner = await dashboard.newOwner();
  const path = await projectOf(owner);
  for (let turn = 0; turn < 2 * uploadSlots.inAll.all; turn++) await uploadAndHangUp(path, owner);
  await until('nothing is under way', async () => (await underWay()) === 0);
  expect((await upload(path, owner)).status).toBe(303);
});
