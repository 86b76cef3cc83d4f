import { expect, test } from '@jest/globals';
import { RunningWork } from '../../../src/adapters/system/event-loop-watch.ts';
import { measuredJobs, tracedJobs, watchedJobs } from '../../../src/app/worker.ts';
import { RecordingTracer } from '../../support/recording-tracer.ts';

test('a job that is measured, watched and traced can ask whether the process ends', async () => {
  const asked: unknown[] = [];
  const run = (isStopping: unknown) => {
    asked.push(isStopping);
    return Promise.resolve('done' as const);
  };
  const job = { name: 'sweep', schedule: '* * * * * *', isTraced: true, run } as const;
  const metrics = { count: () => undefined, time: () => undefined };
  const traced = tracedJobs(new RecordingTracer(), [job]);
  const [wrapped] = measuredJobs(metrics, watchedJobs(new RunningWork(), traced));
  const isStopping = () => false;
  await wrapped?.run(isStopping);
  expect(asked).toEqual([isStopping]);
});
