import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { at, printedLink, signInFirst } from '../support/dashboard/process.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import {
  newHome,
  printedAccount,
  type Home,
  type Service,
} from '../support/service/service-process.ts';
import { zipOf } from '../support/sites/zip-bytes.ts';

let home: Home;
let first: Service;
let second: Service;
let here: DashboardVisitor;
let there: DashboardVisitor;
beforeAll(async () => {
  home = await newHome('sqlite');
  const ROLES = 'api,dashboard';
  first = await home.start({ ROLES });
  second = await home.start({ ROLES, PORT: String(await findFreePort()) });
  here = await signInFirst(first);
  there = at(second, here);
});
afterAll(() => home.remove());

test('the link that the first start prints works once and is not in the logs', async () => {
  const link = printedLink(first);
  expect((await new DashboardVisitor(second.origin).get(link)).status).toBe(422);
  const written = [first, second].map((one) => one.stdout() + one.stderr()).join('');
  expect(written.split(link.split('/').at(-1)!)).toHaveLength(2);
});

test('a change at one process shows on the pages that are open at the other', async () => {
  const form = await here.get('/dashboard');
  const [, once = ''] = /name="once" value="([^"]+)"/.exec(form.text) ?? [];
  const made = await here.post('/dashboard', { once, name: 'Happy Paws' });
  const path = made.location!.replace(/\?.*/, '');
  const stream = await DashboardStream.open(there, path);
  await stream.shows('Happy Paws');

  const body = new FormData();
  body.set('archive', new Blob([zipOf([{ name: 'index.html' }])]), 'site.zip');
  const headers = { 'Sec-Fetch-Site': 'same-origin' };
  const sent = await here.send(`${path}/deploys`, { method: 'POST', headers, body });
  expect(sent.status).toBe(303);
  expect(sent.location).toContain(`${path}?done=deployed.`);
  await stream.shows('deploy 1');
  stream.close();
});

test('signing out at one process ends the session at the other', async () => {
  const stream = await DashboardStream.open(there, '/dashboard/usage');
  await stream.shows('Usage');
  expect((await here.post('/dashboard/sign-out')).status).toBe(303);
  expect((await there.get('/dashboard')).status).toBe(303);
  await stream.ends();
});

test('a stopping process does not wait for live pages and idle connections', async () => {
  const who = ['--account', printedAccount(first), '--email', 'owner@animal-store.test'];
  const invited = await home.run(['user', 'invite', ...who, '--json']);
  const { signInUrl } = JSON.parse(invited.stdout) as { signInUrl: string };
  const visitor = new DashboardVisitor(second.origin);
  await visitor.get(new URL(signInUrl).pathname);
  // As browsers do ahead of a request that they expect.
  const idle = connect(Number(new URL(second.origin).port), '127.0.0.1');
  await once(idle, 'connect');
  const told = text(idle);
  // The process answers this after it took the connection above.
  const stream = await DashboardStream.open(visitor, '/dashboard/usage');
  await stream.shows('Usage');
  // After 10 s it gives up, with another code: it would wait for either for so long.
  expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
  await stream.ends();
  // A connection that is waited for hears of a timeout about then.
  expect(await told).toBe('');
});
