import { expect, test } from '@jest/globals';
import { Census } from '../../../src/adapters/schedule/census.ts';
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
  /** @param tookMs of each count */
  const worker = (holder: string, tookMs = 0) => {
    const count = () => {
      pass(tookMs);
      return Promise.resolve(++counted);
    };
    return new Census(count, { leases, clock, holder, elapsed: () => elapsedMs });
  };
  return { pass, worker, leases, counted: () => counted };
};

test('one worker of a fleet counts, and only that one knows the count', async () => {
  const { worker, counted } = await fleet();
  const [one, other] = [worker('one'), worker('other')];
  expect([await one.run(), await other.run(), await other.run()]).toEqual([true, false, false]);
  expect(one.latest).toEqual({ counts: 1, at: begin });
  expect(other.latest).toBeUndefined();
  expect(counted()).toBe(1);
});

test('another worker takes over from one that is dead, and at once from one that has stopped', async () => {
  const { pass, worker } = await fleet();
  const [dead, next, last] = [worker('dead'), worker('next'), worker('last')];
  await dead.run();
  pass(59_000);
  await next.run();
  expect(next.latest).toBeUndefined();
  pass(2_000);
  await next.run();
  expect(next.latest?.counts).toBe(2);
  await next.stop();
  await last.run();
  expect([next.latest, last.latest?.counts]).toEqual([undefined, 3]);
});

test('a worker that lost its place forgets its count', async () => {
  const { pass, worker } = await fleet();
  const [slow, other] = [worker('slow'), worker('other')];
  await slow.run();
  pass(61_000);
  await other.run();
  await slow.run();
  expect([slow.latest, other.latest?.counts]).toEqual([undefined, 2]);
});

test('a worker without a database forgets its count once its place may be taken', async () => {
  const { pass, worker, leases } = await fleet();
  const census = worker('one');
  await census.run();
  leases.hold = () => Promise.reject(new Error('away'));
  pass(59_000);
  await expect(census.run()).rejects.toThrow('away');
  expect(census.latest?.counts).toBe(1);
  pass(2_000);
  await expect(census.run()).rejects.toThrow('away');
  expect(census.latest).toBeUndefined();
});

test('a slow count is repeated after a hundred times as long, and meanwhile nobody takes over', async () => {
  const { pass, worker } = await fleet();
  const [slow, other] = [worker('slow', 1_000), worker('other')];
  await slow.run();
  pass(99_000);
  await slow.run();
  expect(slow.latest?.counts).toBe(1);
  pass(1_000);
  await slow.run();
  expect(slow.latest?.counts).toBe(2);
  pass(150_000);
  await other.run();
  expect(other.latest).toBeUndefined();
});

test('a count that takes minutes is repeated within five minutes of its end', async () => {
  const { pass, worker } = await fleet();
  const census = worker('slowest', 120_000);
  await census.run();
  pass(300_000);
  await census.run();
  expect(census.latest?.counts).toBe(2);
});
