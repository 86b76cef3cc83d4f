import { expect, test } from '@jest/globals';
import { workerJobs, type WorkerPorts } from '../../../src/app/jobs.ts';

/** Only names and schedules are asked for. */
const nothing: WorkerPorts = new Proxy((() => nothing) as unknown as WorkerPorts, {
  get: (_, port) => (port === 'verifierSchedule' ? '* * * * * *' : nothing),
});
const jobs = workerJobs(nothing);

test('the jobs that workers leave to one of them are known as such', () => {
  expect(jobs.filter(({ isShared }) => isShared).map(({ name }) => name)).toEqual([
    'issue and renew certificates',
    'plan renewals',
    'count what is stored',
    'tell of operations that end',
    'end what was deleted',
    'mail people',
  ]);
});
