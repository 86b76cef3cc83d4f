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
import { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { startApi } from '../support/http/running-api.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { entry } from '../support/sites/sites.ts';

/** Each rendering has its own id of the deploy form. */
const withoutIds = (markup: string): string => markup.replace(/(?<=name="once" value=")[^"]*/g, '');

describe('a live page', () => {
  let dashboard: RunningDashboard;
  let owner: Owner;
  let path: string;
  let streams: DashboardStream[];
  /** Nothing is polled unless a test does so: everything else is shown because of a signal. */
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

  test('sends its page at once, and again only when the page changes', async () => {
    const stream = await open();
    expect([stream.status, stream.headers.get('Content-Type')]).toEqual([
      ...[200, 'text/event-stream; charset=utf-8'],
    ]);
    expect(stream.headers.get('Cache-Control')).toBe('no-store');
    await stream.shows('Birds and more');
    const [first] = stream.events;
    const page = await owner.visitor.get(path);
    expect(withoutIds(page.text)).toContain(withoutIds(JSON.parse(first!.data) as string));
    await dashboard.container.get(SitesKey).startProject(owner.accountId, 'Another');
    await deploy();
    await stream.shows('deploy 1');
    expect(new Set(stream.events.map(({ data }) => data)).size).toBe(stream.events.length);
  });

  test('shows changes by another process at the next check', async () => {
    const stream = await open();
    await stream.shows('Birds and more');
    const other = await startApi('sqlite', { databaseUrl: dashboard.databaseUrl });
    const sites = other.container.get(SitesKey);
    const { project } = await sites.getSite(path.split('/').at(-1)!);
    await sites.renameProject(project, { name: 'Renamed elsewhere' });
    await jest.advanceTimersByTimeAsync(2000);
    await stream.shows('Renamed elsewhere');
    await other.close();
  });

  test('says that the session is over once it has ended', async () => {
    const stranger = await open(new DashboardVisitor(dashboard.origin));
    await stranger.ends();
    expect([stranger.status, stranger.events]).toEqual([200, [{ event: 'over', data: '' }]]);
  });
});
