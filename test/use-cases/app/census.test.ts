import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Census } from '../../../src/adapters/schedule/leased-job.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const begin = new Date('2026-03-01T10:00:00Z');

const open = storesOfTests();
const fleet = async () => {
  const { jobLeases: leases } = await open();
  const clock = new SettableClock(begin);
  let [counted, elapsedMs] = [0, 0];
  const pass = (milliseconds: number) => {
    elapsedMs += milliseconds;
    clock.advance(milliseconds);
  };
  const worker = (holder: string, tookMs = 0) => {
    const count = () => {
      pass(tookMs);
      return Promise.resolve(++counted);
    };
    const log = pino({ level: 'silent' });
    return new Census(count, { leases, clock, holder, log, elapsed: () => elapsedMs });
  };
  return { pass, worker, leases, counted: () => counted };
};

const runRead = (census: Census<number>, isStopping?: () => boolean) => {
  census.read();
  return census.run(isStopping);
};

test('a worker whose count nobody reads does not count again', async () => {
  const { pass, worker, counted } = await fleet();
  const census = worker('one');
  let rung = 0;
  census.news.listen(() => {
    rung += 1;
  });
  await census.run();
  expect(await census.run()).toEqual({ nextAt: new Date(begin.getTime() + 60_000) });
  pass(60_000);
  expect(await census.run()).toEqual({ nextAt: undefined });
  expect([counted(), rung]).toEqual([1, 0]);
  expect(census.read()).toBeUndefined();
  await census.run();
  expect([counted(), rung]).toEqual([2, 1]);
});

test('counts that are read every two minutes are available each time', async () => {
  const { pass, worker } = await fleet();
  const census = worker('one');
  await census.run();
  census.read();
  for (let reads = 0; reads < 3; reads++) {
    for (let looks = 0; looks < 8; looks++) {
      pass(15_000);
      await census.run();
    }
    expect(census.read()?.at.getTime()).toBeGreaterThan(begin.getTime() + reads * 120_000);
  }
});

test('one worker of a fleet counts, and only that one has the count', async () => {
  const { worker, counted } = await fleet();
  const [one, other] = [worker('one'), worker('other')];
  expect([await runRead(one), await runRead(other), await runRead(other)]).toEqual([
    'done',
    'elsewhere',
    'elsewhere',
  ]);
  expect(one.read()).toEqual({ counts: 1, at: begin });
  expect(other.read()).toBeUndefined();
  expect(counted()).toBe(1);
});

test('another worker takes over from one that has died, and at once from one that has stopped', async () => {
  const { pass, worker } = await fleet();
  const [dead, next, last] = [worker('dead'), worker('next'), worker('last')];
  await runRead(dead);
  pass(59_000);
  await runRead(next);
  expect(next.read()).toBeUndefined();
  pass(2_000);
  await runRead(next);
  expect(next.read()?.counts).toBe(2);
  await next.stop();
  await runRead(last);
  expect([next.read(), last.read()?.counts]).toEqual([undefined, 3]);
});

test('a count that a stop interrupted is not shown', async () => {
  const { worker } = await fleet();
  const stopping = worker('stopping');
  await runRead(stopping, () => true);
  expect(stopping.read()).toBeUndefined();
});

test('a worker that lost its role drops its count', async () => {
  const { pass, worker } = await fleet();
  const [slow, other] = [worker('slow'), worker('other')];
  await runRead(slow);
  pass(61_000);
  await runRead(other);
  await runRead(slow);
  expect([slow.read(), other.read()?.counts]).toEqual([undefined, 2]);
});

test('a worker without a database drops its count once another may take its role', async () => {
  const { pass, worker, leases } = await fleet();
  const census = worker('one');
  await runRead(census);
  leases.hold = () => Promise.reject(new Error('away'));
  pass(59_000);
  await expect(runRead(census)).rejects.toThrow('away');
  expect(census.read()?.counts).toBe(1);
  pass(2_000);
  await expect(runRead(census)).rejects.toThrow('away');
  expect(census.read()).toBeUndefined();
});

test('a slow count is repeated after a hundred times its duration, and no other worker takes over meanwhile', async () => {
  const { pass, worker } = await fleet();
  const [slow, other] = [worker('slow', 1_000), worker('other')];
  await runRead(slow);
  pass(99_000);
  await runRead(slow);
  expect(slow.read()?.counts).toBe(1);
  pass(1_000);
  await runRead(slow);
  expect(slow.read()?.counts).toBe(2);
  pass(150_000);
  await runRead(other);
  expect(other.read()).toBeUndefined();
});

test('a count that takes minutes is repeated within five minutes of its end', async () => {
  const { pass, worker } = await fleet();
  const census = worker('slowest', 120_000);
  await runRead(census);
  pass(300_000);
  await runRead(census);
  expect(census.read()?.counts).toBe(2);
});
