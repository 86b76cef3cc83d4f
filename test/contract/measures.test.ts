import { expect, test } from '@jest/globals';
import { measures, type MeasureName } from '../../src/adapters/http/metrics/measures.ts';
import type { Measure } from '../../src/adapters/http/metrics/measure.ts';
import { Metrics } from '../../src/adapters/http/metrics/metrics.ts';

const all: readonly (readonly [string, Measure])[] = Object.entries(measures);

test.each(all)('%s is named as Prometheus wants it', (name, { type, unit, together, help }) => {
  expect(name).toMatch(/^[a-z]+(_[a-z0-9]+)*$/);
  expect(name.endsWith('_total')).toBe(type === 'counter');
  const [ending] = /_(?:seconds|bytes)$/.exec(name) ?? ['_none'];
  expect(ending).toBe(`_${unit}`);
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

test('what is shown of one measure is read once at a scrape, and left out where it is not known', async () => {
  const metrics = new Metrics();
  let [reads, pages]: [number, number | undefined] = [0, 7];
  metrics.show(['edge_hosts', 'edge_requests_total'], () => {
    reads += 1;
    return { edge_hosts: pages, edge_requests_total: pages };
  });
  expect(await shown(metrics, 'edge_hosts')).toEqual(['edge_hosts 7']);
  expect(reads).toBe(1);
  pages = 9;
  expect(await shown(metrics, 'edge_requests_total')).toEqual(['edge_requests_total 9']);
  pages = undefined;
  expect(await shown(metrics, 'edge_hosts')).toEqual([]);
  expect(reads).toBe(3);
});

test('several show different series of one measure, and one that fails does not hide the others', async () => {
  const metrics = new Metrics();
  metrics.show(['deploys'], () => ({ deploys: [{ labels: { state: 'failed' }, value: 1 }] }));
  metrics.show(['deploys'], () => Promise.reject(new Error('away')));
  metrics.show(['deploys'], () => ({ deploys: [{ labels: { state: 'uploading' }, value: 2 }] }));
  expect(await shown(metrics, 'deploys')).toEqual([
    'deploys{state="failed"} 1',
    'deploys{state="uploading"} 2',
  ]);
});

test('a read that takes too long is left out, and the other measures are shown', async () => {
  const metrics = new Metrics();
  metrics.show(['deploys_kept_bytes'], () => new Promise(() => undefined));
  metrics.show(['edge_hosts'], () => ({ edge_hosts: 1 }));
  expect(await shown(metrics, 'deploys_kept_bytes')).toEqual([]);
  expect(await shown(metrics, 'edge_hosts')).toEqual(['edge_hosts 1']);
});

test('a counter is shown before anything is counted', async () => {
  const metrics = new Metrics();
  const labels = { authority: 'local', reason: 'dns' };
  metrics.count('authority_failures_total', labels, 0);
  const line = 'authority_failures_total{authority="local",reason="dns"}';
  expect(await shown(metrics, 'authority_failures_total')).toEqual([`${line} 0`]);
  metrics.count('authority_failures_total', labels);
  expect(await shown(metrics, 'authority_failures_total')).toEqual([`${line} 1`]);
});
