import { expect } from '@jest/globals';
import { longestHealthMs, watchHealth } from '../support/service/health-watch.ts';
import { logOf } from '../support/service/service-log.ts';
import type { Service } from '../support/service/service-process.ts';
import { within } from '../support/until.ts';
import { type ProcessUsage, usageOf } from './ground.ts';

/** Covers connections that browsers keep open, and files of logs and databases. */
const spareDescriptors = 30;
/** Covers memory that V8 and the allocator keep for reuse. */
const spareMiB = 250;
/** The time after an attack by which everything is released. */
const mostMsAfter = 60_000;

const error = 50;

interface Attacked<T> {
  /** The attack's own result. */
  readonly result: T;
  readonly before: ProcessUsage;
  /** The end of the attack, before its resources were released. */
  readonly during: ProcessUsage;
}

/**
 * Runs an attack while another process checks `/healthz`.
 * @throws Error if a check took too long, the service logged a complaint, or it keeps resources of the
 * attack
 */
export const underAttack = async <T>(
  service: Service,
  attack: () => Promise<T>,
  afterwards: (result: T) => unknown = () => undefined,
): Promise<Attacked<T>> => {
  const before = await usageOf(service);
  const [written, logged] = [service.stderr().length, logOf(service).length];
  const health = await watchHealth(service);
  try {
    const result = await attack();
    await health.settle();
    const during = await usageOf(service);
    await afterwards(result);
    await health.settle();
    const worst = health.worst();
    const isQuick = (worst?.workMs ?? 0) <= longestHealthMs;
    expect({ isQuick, worst }).toEqual({ isQuick: true, worst });
    expect(health.probes.filter(({ status }) => status !== 200)).toEqual([]);
    await isBack(service, before);
    expect(service.stderr().slice(written)).toBe('');
    const complaints = logOf(service).slice(logged);
    expect(complaints.filter(({ level }) => level >= error)).toEqual([]);
    return { result, before, during };
  } finally {
    health.stop();
  }
};

const isBack = async (service: Service, before: ProcessUsage): Promise<void> => {
  let now = before;
  const look = async (): Promise<boolean> => {
    now = await usageOf(service);
    return (
      now.descriptors <= before.descriptors + spareDescriptors &&
      now.residentMiB <= before.residentMiB + spareMiB
    );
  };
  await within(mostMsAfter, 'memory and descriptors are back', look).catch((late: unknown) => {
    throw new Error(JSON.stringify({ before, now }), { cause: late });
  });
};
