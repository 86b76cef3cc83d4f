import { afterEach, expect, test } from '@jest/globals';
import { RunningWork } from '../../../src/adapters/system/event-loop-watch.ts';
import { measuredAuthority } from '../../../src/app/wiring/authorities.ts';
import { observedJobs } from '../../../src/app/worker.ts';
import { authorityFailureReasons } from '../../../src/domains/domain/certificates/certificate-status.ts';
import { RecordingTracer } from '../../support/recording-tracer.ts';
import { closeLabs, domainLab } from '../../support/domains/domain-lab.ts';

afterEach(closeLabs);

const tally = () => {
  const counts = new Map<string, number>();
  const count = (name: string, labels: Readonly<Record<string, string>>, by = 1) => {
    const key = [name, ...Object.values(labels)].join(' ');
    counts.set(key, (counts.get(key) ?? 0) + by);
  };
  const timed: string[] = [];
  const time = (name: string, labels: Readonly<Record<string, string>>) => {
    timed.push([name, ...Object.values(labels)].join(' '));
  };
  return { metrics: { count, time }, counts, timed };
};

test('orders, certificates and failures of an authority are counted, and shown as 0 at the start', async () => {
  const lab = await domainLab();
  const { metrics, counts } = tally();
  const authority = measuredAuthority(lab.authority, metrics);
  expect([...counts.values()]).toEqual(Array(authorityFailureReasons.length + 2).fill(0));

  const domain = await lab.addVerified();
  await lab.tendDue({ authority });
  expect((await lab.current(domain)).state).toBe('live');
  expect(counts.get('authority_orders_total authority.test')).toBe(1);
  expect(counts.get('authority_certificates_total authority.test')).toBe(1);

  lab.authority.failNext('order', { reason: 'rate_limited' });
  await authority.order('other.example.com');
  expect(counts.get('authority_orders_total authority.test')).toBe(1);
  expect(counts.get('authority_failures_total authority.test rate_limited')).toBe(1);
});

const goesOn = () => false;
const observers = (metrics: ReturnType<typeof tally>['metrics']) => ({
  metrics,
  running: new RunningWork(),
  tracer: new RecordingTracer(),
});

test('a job that is counted and traced can find out whether the process is stopping', async () => {
  const asked: unknown[] = [];
  const run = (isStopping: unknown) => {
    asked.push(isStopping);
    return Promise.resolve('done' as const);
  };
  const job = { name: 'sweep', schedule: '* * * * * *', isTraced: true, run } as const;
  await observedJobs(observers(tally().metrics), [job])[0]?.run(goesOn);
  expect(asked).toEqual([goesOn]);
});

test('a run that is left to another process is not counted, and its result is passed on', async () => {
  const { metrics, counts } = tally();
  const run = () => Promise.resolve('elsewhere' as const);
  const [job] = observedJobs(observers(metrics), [{ name: 'sweep', schedule: '* * * * * *', run }]);
  expect(await job?.run(goesOn)).toBe('elsewhere');
  expect(counts.get('job_runs_total sweep succeeded')).toBe(0);
});

test('runs of jobs are counted by their outcome and timed, and a failure is passed on', async () => {
  const { metrics, counts, timed } = tally();
  const run = () =>
    timed.length === 0 ? Promise.resolve('done' as const) : Promise.reject(new Error('away'));
  const [job] = observedJobs(observers(metrics), [{ name: 'sweep', schedule: '* * * * * *', run }]);
  expect(Object.fromEntries(counts)).toEqual({
    'job_runs_total sweep succeeded': 0,
    'job_runs_total sweep failed': 0,
  });
  await job?.run(goesOn);
  await expect(job?.run(goesOn)).rejects.toThrow('away');
  expect(Object.fromEntries(counts)).toEqual({
    'job_runs_total sweep succeeded': 1,
    'job_runs_total sweep failed': 1,
  });
  expect(timed).toEqual(['job_duration_seconds sweep', 'job_duration_seconds sweep']);
});
