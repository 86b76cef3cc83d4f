import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SitesKey } from '../../src/app/keys.ts';
import { elementsIn, textOf } from '../support/dashboard/markup.ts';
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

const ours = { 'Sec-Fetch-Site': 'same-origin' };
const form = { ...ours, 'Content-Type': 'application/x-www-form-urlencoded' };

const projects = async () =>
  (await dashboard.container.get(SitesKey).listProjects(owner.accountId)).length;

test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('the method %s is refused', async (method) => {
  for (const path of ['/dashboard', '/dashboard/sign-in', '/dashboard/nowhere']) {
    const answer = await owner.visitor.send(path, { method, headers: ours });
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect(textOf(answer.text)).toContain(`Pages do not accept ${method}.`);
    expect((await owner.visitor.send(path, { method })).status).toBe(405);
  }
});

test('missing things and things of other accounts get the same answer', async () => {
  const other = await dashboard.newOwner();
  const sites = dashboard.container.get(SitesKey);
  const { slug } = await sites.startProject(other.accountId, 'Birds');
  const paths = [
    'nowhere',
    'projects/nobodys',
    `projects/${slug}`,
    'projects/%00',
    'projects/..%2f',
  ];
  const pages = [];
  for (const path of paths) pages.push(await owner.visitor.get(`/dashboard/${path}`));
  expect(pages.map(({ status }) => status)).toEqual(paths.map(() => 404));
  expect(new Set(pages.map(({ text: markup }) => markup)).size).toBe(1);
  expect(elementsIn(pages[0]!.text, 'h1')).toMatchObject([{ text: 'Not found' }]);
});

test.each(['/dashboard/%', '/dashboard/projects/%ff', '/dashboard/projects/%E0%A4%A'])(
  'a path that is not valid text (%s) is 404',
  async (path) => {
    expect((await owner.visitor.get(path)).status).toBe(404);
  },
);

test.each([
  ['application/json', '{"name":"Birds"}'],
  ['text/plain', 'name=Birds'],
  ['multipart/form-data; boundary=x', '--x--'],
  ['', 'name=Birds'],
])('a form of the type %j is refused', async (type, body) => {
  const headers = { ...ours, 'Content-Type': type };
  const answer = await owner.visitor.send('/dashboard', { method: 'POST', headers, body });
  expect(answer.status).toBe(415);
  expect(await projects()).toBe(0);
});

test('a form with a content encoding is refused, because no browser sends one', async () => {
  const headers = { ...form, 'Content-Encoding': 'gzip' };
  const answer = await owner.visitor.send('/dashboard', {
    method: 'POST',
    headers,
    body: 'name=Birds',
  });
  expect(answer.status).toBe(415);
  expect(await projects()).toBe(0);
});

test('a form of more than 64 KiB is refused, with and without Content-Length', async () => {
  const body = `name=${'x'.repeat(64 * 1024)}`;
  const told = await owner.visitor.send('/dashboard', { method: 'POST', headers: form, body });
  expect(told.status).toBe(413);
  expect(textOf(told.text)).toContain('It can hold 64 KiB');
  const chunks = new Blob([body]).stream();
  const untold = await fetch(`${dashboard.origin}/dashboard`, {
    ...{ method: 'POST', body: chunks, duplex: 'half' },
    headers: { ...form, Cookie: owner.visitor.cookie! },
  });
  expect(untold.status).toBe(413);
});

test.each(['name=%', 'name=%ff%fe', 'name', '&&&', '=', '__proto__=x&constructor=y', 'name[]=x'])(
  'a form with the body %j is refused',
  async (body) => {
    const answer = await owner.visitor.send('/dashboard', { method: 'POST', headers: form, body });
    expect([400, 422]).toContain(answer.status);
    expect(await projects()).toBe(0);
  },
);

test('a form that is cut off does nothing, and the next one is served', async () => {
  const { hostname, port } = new URL(dashboard.origin);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ ...form, Cookie: owner.visitor.cookie!, 'Content-Length': '99' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST /dashboard HTTP/1.1\r\nHost: x\r\n${head}\r\nname=Bir`);
  await once(socket, 'connect');
  socket.end();
  expect(await text(socket)).not.toMatch(/^HTTP\/1\.1 [23]/);
  expect(await projects()).toBe(0);
  expect((await owner.visitor.get('/dashboard')).status).toBe(200);
});
