import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ConfigKey, SitesKey } from '../../src/app/keys.ts';
import { startDashboard, type Owner, type RunningDashboard } from '../support/running-dashboard.ts';
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

const head = (path: string, { visitor }: Owner): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    'Sec-Fetch-Site: same-origin',
    `Cookie: ${visitor.cookie!}`,
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 9999',
    '\r\n',
  ].join('\r\n');

/** What is being uploaded lies in a file each. */
const underWay = async (): Promise<number> => {
  const folder = join(dashboard.container.get(ConfigKey).dataDir, 'uploads');
  return (await readdir(folder).catch(() => [])).length;
};

/** Sends the beginning of a file and no more. @returns once the server takes it */
const uploadSlowly = async (path: string, owner: Owner): Promise<void> => {
  const { hostname, port } = new URL(dashboard.origin);
  const socket = connect(Number(port), hostname);
  slow.push(socket);
  socket.write(
    `${head(path, owner)}--x\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n\r\nPK`,
  );
  await until('it is under way', async () => (await underWay()) === slow.length);
};

const upload = (path: string, { visitor }: Owner) => {
  const body = new FormData();
  body.set('archive', new Blob(['no archive']), 'a.zip');
  return visitor.send(path, { method: 'POST', body, headers: { 'Sec-Fetch-Site': 'same-origin' } });
};

test('an account uploads two sites at once, and holds up nobody else with them', async () => {
  const [one, other] = [await dashboard.newOwner(), await dashboard.newOwner()];
  const [path, otherPath] = [await projectOf(one), await projectOf(other)];
  await uploadSlowly(path, one);
  await uploadSlowly(path, one);
  const third = await upload(path, one);
  expect([third.status, third.headers.get('Retry-After')]).toEqual([503, '30']);
  expect(third.text).toContain('Other uploads are in progress.');
  expect((await upload(otherPath, other)).status).toBe(303);
});

test('there are four uploads at once in a process', async () => {
  const owners = [await dashboard.newOwner(), await dashboard.newOwner()];
  for (const owner of owners) {
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
