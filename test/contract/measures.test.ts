import { expect, test } from '@jest/globals';
import {
  edgeMeasures,
  jobMeasures,
  measures,
  poolMeasures,
  type MeasureName,
} from '../../src/adapters/http/metrics/measures.ts';
import { Metrics } from '../../src/adapters/http/metrics/metrics.ts';

const all = Object.entries(measures);
const edge = {
  hosts: 0,
  connections: 0,
  answers: 0,
  heldBytes: 0,
  requests: 0,
  refusedHandshakes: 0,
  refusedRequests: 0,
  failedRequests: 0,
  stalled: 0,
};

test.each(all)('%s follows the naming rules of Prometheus', (name, { type, together, help }) => {
  expect(name).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
  expect(name.endsWith('_total')).toBe(type === 'counter');
  if (type !== 'gauge') expect(together).toBe('sum');
  expect(help).not.toMatch(/\.$/);
});

test('no label can have as many values as there are customers', () => {
  const labels = new Set(all.flatMap(([, one]) => one.labels));
  expect([...labels].sort()).toEqual([
    ...['actor', 'authority', 'budget', 'done_by', 'health', 'job_name', 'node', 'of'],
    ...['operation', 'outcome', 'percent_left', 'rcode', 'reason', 'source', 'state', 'status'],
    ...['transport', 'version'],
  ]);
});

const shown = async (metrics: Metrics, name: MeasureName): Promise<readonly string[]> => {
  const text = await metrics.registry.metrics();
  return text.split('\n').filter((line) => line.startsWith(name));
};

test('a scrape reads each source of a metric once, and omits unknown values', async () => {
  const metrics = new Metrics();
  let [reads, hosts]: [number, number | undefined] = [0, 7];
  metrics.show(edgeMeasures, () => {
    reads += 1;
    return hosts === undefined ? undefined : { ...edge, hosts, requests: hosts };
  });
  expect(await shown(metrics, 'edge_hosts')).toEqual(['edge_hosts 7']);
  expect(reads).toBe(1);
  hosts = 9;
  expect(await shown(metrics, 'edge_requests_total')).toEqual(['edge_requests_total 9']);
  hosts = undefined;
  expect(await shown(metrics, 'edge_hosts')).toEqual([]);
  expect(reads).toBe(3);
});

test('several sources can each add series to one metric, and one that fails does not hide the others', async () => {
  const metrics = new Metrics();
  const job = (name: string) => [
    { name, isShared: true, endedWellAt: 2_000, failedAt: 0, intervalMs: 0 },
  ];
  metrics.show(jobMeasures, () => job('one'));
  metrics.show(jobMeasures, () => Promise.reject(new Error('away')));
  metrics.show(jobMeasures, () => job('other'));
  expect(await shown(metrics, 'job_last_success_timestamp_seconds')).toEqual([
    'job_last_success_timestamp_seconds{job_name="one",done_by="one"} 2',
    'job_last_success_timestamp_seconds{job_name="other",done_by="one"} 2',
  ]);
});

test('a source that takes too long to read is left out, and the other metrics are shown', async () => {
  const metrics = new Metrics();
  metrics.show(poolMeasures, () => new Promise<undefined>(() => undefined));
  metrics.show(edgeMeasures, () => ({ ...edge, hosts: 1 }));
  expect(await shown(metrics, 'database_pool_waiting')).toEqual([]);
  expect(await shown(metrics, 'edge_hosts')).toEqual(['edge_hosts 1']);
});

test('a counter is shown as 0 before anything is counted', async () => {
  const metrics = new Metrics();
  const labels = { authority: 'local', reason: 'dns' };
  metrics.count('authority_failures_total', labels, 0);
  const line = 'authority_failures_total{authority="local",reason="dns"}';
  expect(await shown(metrics, 'authority_failures_total')).toEqual([`${line} 0`]);
  metrics.count('authority_failures_total', labels);
  expect(await shown(metrics, 'authority_failures_total')).toEqual([`${line} 1`]);
});
