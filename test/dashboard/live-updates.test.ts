import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { AccessKey, SitesKey } from '../../src/app/keys.ts';
import { DashboardStream } from '../support/dashboard/stream.ts';
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import {
  startDashboard,
  type Owner,
  type RunningDashboard,
} from '../support/dashboard/running-dashboard.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/site-source.ts';

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

test('a change in this process shows on every open page without polling', async () => {
  const all = [await open(), await open(), await open()];
  for (const stream of all) await stream.shows('Not published yet');
  await deploy();
  for (const stream of all) await stream.shows('deploy 1');
});

test('revoking a session ends its streams and no others', async () => {
  const visitor = await dashboard.signIn(owner.email);
  const [mine, others] = [await open(visitor), await open()];
  await mine.shows('Not published yet');
  const access = dashboard.container.get(AccessKey);
  const signedIn = await access.findSession(visitor.cookie!.split('=')[1]!);
  await access.revokeSession(signedIn!, signedIn!.session.id);
  await mine.ends();
  expect(mine.events.at(-1)).toEqual({ event: 'over', data: '' });
  await deploy();
  await others.shows('deploy 1');
  expect(mine.events.map(({ data }) => data).join()).not.toContain('deploy 1');
});

test('a session that has lasted 12 hours ends its streams', async () => {
  const stream = await open(await dashboard.signIn(owner.email));
  await stream.shows('Not published yet');
  dashboard.clock.advance(12 * 3_600_000);
  jest.advanceTimersByTime(2000);
  await stream.ends();
  expect(stream.events.at(-1)?.event).toBe('over');
  owner = { ...owner, visitor: await dashboard.signIn(owner.email) };
});

test('the stream of an ended session says that it is over', async () => {
  const stranger = await open(new DashboardVisitor(dashboard.origin));
  await stranger.ends();
  expect([stranger.status, stranger.events]).toEqual([200, [{ event: 'over', data: '' }]]);
});

test('a member of another account gets no stream', async () => {
  const foreign = await open((await dashboard.newOwner()).visitor);
  expect(foreign.status).toBe(404);
});

test('the eleventh live page of a session makes the oldest one ask later', async () => {
  const { visitor } = await dashboard.newOwner();
  path = '/dashboard/usage';
  for (let i = 0; i < 11; i++) await open(visitor);
  await streams[0]?.ends();
  const last = streams[0]?.events.at(-1);
  expect([last?.event, Number(last?.data)]).toEqual(['later', expect.any(Number)]);
  expect(Number(last?.data)).toBeGreaterThanOrEqual(60);
  for (const stream of streams.slice(1)) await stream.shows('Usage');
  const others = streams.slice(1).flatMap(({ events }) => events.map(({ event }) => event));
  expect(others.filter((event) => event !== 'page' && event !== 'bell')).toEqual([]);
});

test('a change of the plan shows on an open page', async () => {
  const { accountId, visitor } = await dashboard.newOwner({ plan: 'free' });
  const { slug } = await dashboard.container.get(SitesKey).startProject(accountId, 'Cats');
  path = `/dashboard/projects/${slug}/settings/domains`;
  const stream = await open(visitor);
  await stream.shows('The free plan does not include custom domains');
  await dashboard.container.get(AccessKey).setPlan(accountId, 'business');
  await stream.shows('The business plan includes custom domains');
});

test('stopping the server ends all streams, so that it does not wait for them forever', async () => {
  jest.useRealTimers();
  const stopping = await startDashboard();
  const { visitor } = await stopping.newOwner();
  const stream = await DashboardStream.open(visitor, '/dashboard/usage');
  await stream.shows('Usage');
  await stopping.close();
  await stream.ends();
});
