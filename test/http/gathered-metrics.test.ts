import { expect, test } from '@jest/globals';
import { edgeMeasures } from '../../src/adapters/http/metrics/measures.ts';
import {
  Metrics,
  shownTogether,
  snapshotOf,
  type MetricSnapshot,
} from '../../src/adapters/http/metrics/metrics.ts';
import { SystemClock } from '../../src/adapters/system/system-ports.ts';
import { showOutbox } from '../../src/app/wiring/web.ts';
import { GatheredMetrics, type Child, type Ending } from '../../src/app/processes/children.ts';

const processWith = (hosts: number, requests: number) => {
  const state = () => Promise.resolve({ waiting: 3, parked: 1 });
  const oldest = () => Promise.resolve({ waiting: undefined, parked: undefined });
  const metrics = new Metrics();
  showOutbox(metrics, { state, oldest }, new SystemClock());
  const none = {
    answers: 0,
    heldBytes: 0,
    refusedHandshakes: 0,
    refusedRequests: 0,
    failedRequests: 0,
    stalled: 0,
  };
  metrics.show(edgeMeasures, () => ({ ...none, hosts, requests, connections: 5 }));
  for (let count = 0; count < requests; count++) metrics.observe('listPets', 200, 0.002);
  const answer: { now: (() => Promise<MetricSnapshot>) | undefined } = {
    now: () => snapshotOf(metrics.registry),
  };
  let lastSnapshot: MetricSnapshot | undefined;
  const tell = async () => (lastSnapshot = await answer.now?.());
  const { promise: ended, resolve } = Promise.withResolvers<Ending>();
  const child = {
    ended,
    get lastSnapshot() {
      return lastSnapshot;
    },
    snapshot: () => (answer.now ? tell() : Promise.resolve(undefined)),
  } as Child;
  return {
    child,
    metrics,
    tell,
    fallSilent: () => (answer.now = undefined),
    end: () => {
      resolve({ code: 0, signal: null });
    },
  };
};

const shown = async (
  gathered: GatheredMetrics,
  children: readonly Child[],
): Promise<(name: string) => number | undefined> => {
  const travelled = JSON.parse(
    JSON.stringify(await gathered.gather(children, 7)),
  ) as readonly MetricSnapshot[];
  const lines = (await shownTogether(travelled)).split('\n');
  return (name) => {
    const line = lines.find((one) => one.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };
};

const gatheringFrom = (...all: readonly { readonly child: Child }[]): GatheredMetrics => {
  const gathered = new GatheredMetrics();
  for (const { child } of all) void gathered.add(child);
  return gathered;
};

const answered = 'http_request_duration_seconds_count{operation="listPets",status="200"}';

test('counters and histograms of all processes are added up, and each gauge is combined in its own way', async () => {
  const [one, other] = [processWith(10, 4), processWith(9, 6)];
  one.metrics.setCountsLocally(true);
  const value = await shown(gatheringFrom(one, other), [one.child, other.child]);
  expect(value(answered)).toBe(10);
  expect(
    value('http_request_duration_seconds_bucket{le="0.0025",operation="listPets",status="200"}'),
  ).toBe(10);
  expect(value('edge_requests_total')).toBe(10);
  expect(value('edge_connections')).toBe(10);
  expect(value('edge_hosts')).toBe(9);
  expect(value('quota_counts_locally')).toBe(1);
  expect(value('outbox_deliveries{state="waiting"}')).toBe(3);
  expect(value('processes{state="serving"}')).toBe(2);
  expect(value('processes_replaced_total')).toBe(7);
});

test('counts of a process remain after it ends, and its gauges do not', async () => {
  const [one, other] = [processWith(10, 4), processWith(10, 6)];
  const third = processWith(10, 1);
  const gathered = gatheringFrom(one);
  const added = [other, third].map(({ child }) => gathered.add(child));
  await shown(gathered, [one.child, other.child]);
  other.end();
  other.metrics.observe('listPets', 200, 0.002);
  await other.tell();
  const value = await shown(gathered, [one.child, third.child]);
  expect(value(answered)).toBe(12);
  expect(value('edge_connections')).toBe(10);
  third.end();
  await Promise.all(added);
  // Too late, because it was already counted.
  other.metrics.observe('listPets', 200, 0.002);
  await other.tell();
  expect((await shown(gathered, [one.child, other.child]))(answered)).toBe(12);
});

test('a process that does not answer is reported as silent, and its counters do not decrease', async () => {
  const [one, other] = [processWith(10, 4), processWith(10, 6)];
  const gathered = gatheringFrom(one, other);
  await shown(gathered, [one.child, other.child]);
  other.fallSilent();
  const value = await shown(gathered, [one.child, other.child]);
  expect(value(answered)).toBe(10);
  expect(value('edge_connections')).toBe(5);
  expect([value('processes{state="serving"}'), value('processes{state="silent"}')]).toEqual([1, 1]);
});
