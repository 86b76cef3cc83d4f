import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { SitesKey } from '../../src/app/keys.ts';
import {
  type Owner,
  type RunningDashboard,
  startDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { DashboardVisitor, printedLink, signInFirst, at } from '../support/dashboard/visitor.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import {
  type Home,
  newHome,
  printedAccount,
  type Service,
} from '../support/service/service-process.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';
import { zipOf } from '../support/sites/archive-bytes.ts';

describe('one process', () => {
  let dashboard: RunningDashboard;
  let owner: Owner;
  let path: string;
  let streams: DashboardStream[];
  /** Nothing is looked at in between unless a test says so: what shows by itself shows because it was told. */
  const stopIntervals = (): void => {
    jest.useFakeTimers({
      doNotFake: [
        ...(['Date', 'hrtime', 'performance', 'nextTick', 'queueMicrotask'] as const),
        ...(['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const),
      ],
    });
  };
  beforeAll(async () => {
    dashboard = await startDashboard();
    owner = await dashboard.newOwner();
  });
  afterAll(() => dashboard.close());
  beforeEach(async () => {
    stopIntervals();
    streams = [];
    const { slug } = await dashboard.container
      .get(SitesKey)
      .startProject(owner.accountId, 'Birds and more');
    path = `/dashboard/projects/${slug}`;
  });
  afterEach(() => {
    for (const stream of streams) stream.close();
    jest.useRealTimers();
  });

  const open = async (visitor = owner.visitor): Promise<DashboardStream> => {
    const stream = await DashboardStream.open(visitor, path);
    streams.push(stream);
    return stream;
  };

  const deploy = async (): Promise<void> => {
    const sites = dashboard.container.get(SitesKey);
    const { project } = await sites.getSite(path.split('/').at(-1)!);
    await deployEntries(dashboard.container, project, entry('index.html'));
  };

  test('a stream sends its page at once, and again only when the page changes', async () => {
    const stream = await open();
    expect([stream.status, stream.headers.get('Content-Type')]).toEqual([
      ...[200, 'text/event-stream; charset=utf-8'],
    ]);
    expect(stream.headers.get('Cache-Control')).toBe('no-store');
    await stream.shows('Birds and more');
    const [first] = stream.events;
    const page = await owner.visitor.get(path);
    expect(page.text).toContain(JSON.parse(first!.data) as string);
    await dashboard.container.get(SitesKey).startProject(owner.accountId, 'Another');
    await deploy();
    await stream.shows('deploy 1');
    expect(new Set(stream.events.map(({ data }) => data)).size).toBe(stream.events.length);
  });

  test('the stream of an ended session says that it is over', async () => {
    const stranger = await open(new DashboardVisitor(dashboard.origin));
    await stranger.ends();
    expect([stranger.status, stranger.events]).toEqual([200, [{ event: 'over', data: '' }]]);
  });
});

describe('two processes', () => {
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
});
