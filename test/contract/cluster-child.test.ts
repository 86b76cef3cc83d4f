import cluster from 'node:cluster';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { forkChild } from '../../src/app/processes/children.ts';

const program = join(import.meta.dirname, '../support/service/stuck-child.ts');
const usual = { ...cluster.settings };
const policy = cluster.schedulingPolicy;
beforeAll(() => {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: program, execArgv: [] });
});
afterAll(() => {
  cluster.setupPrimary(usual);
  cluster.schedulingPolicy = policy;
});

test('a child that is killed before it takes over its listening socket is noticed', async () => {
  const child = forkChild({
    roles: [],
    stopMs: { ending: 60_000, replaced: 60_000 },
    gather: () => Promise.resolve([]),
  });
  await child.served;
  child.kill();
  expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
});
