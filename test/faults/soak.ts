import { setTimeout as delay } from 'node:timers/promises';
import { livingHeapOf } from '../support/service/inspected-heap.ts';
import type { Fault, Scene } from './fault.ts';
import { everyDatabase } from './fault-words.ts';
import { usageOf } from '../attacks/ground.ts';

/** Of the time at first: caches fill, V8 compiles what is called often. */
const warmingUp = 0.2;
const measurements = 8;
/** Allowed variation between two measurements. */
const spareMiB = 12;
const spareDescriptors = 12;
/** The event loop delay of a healthy service. */
const mostDelayMs = 50;

interface Measured {
  readonly heapMiB: number;
  readonly descriptors: number;
  /** Of the event loop, in the mean since the one before. */
  readonly delayMs: number;
}

/** Minutes of mixed load, in which the live heap, open files and delays must not grow. */
export const soak: Fault = {
  name: 'a long time of mixed load',
  databases: everyDatabase,
  needs: 'inspector',
  mayAnswer: [],
  recoversWithinMs: 5_000,
  strike: async (scene) => {
    const lastsMs = scene.orders.soakMinutes * 60_000;
    await delay(lastsMs * warmingUp);
    const measured = [await measure(scene)];
    while (measured.length < measurements) {
      await delay((lastsMs * (1 - warmingUp)) / (measurements - 1));
      measured.push(await measure(scene));
      scene.orders.tell(toldOf(measured.at(-1)!));
    }
    const [first, last] = halvesOf(measured);
    return {
      note: `${toldOf(first)} in the first half; ${toldOf(last)} in the second`,
      complaints: growthOf(first, last),
    };
  },
};

const measure = async ({ ground }: Scene): Promise<Measured> => {
  const service = ground.services[0]!;
  const delayMs = await loopDelayOf(service.origin);
  const [heapMiB, { descriptors }] = await Promise.all([
    livingHeapOf(ground.inspectorPort ?? ''),
    usageOf(service),
  ]);
  return { heapMiB, descriptors, delayMs };
};

const loopDelayOf = async (origin: string): Promise<number> => {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const told = /^event_loop_delay_seconds\{of="mean"\} (.+)$/m.exec(text)?.[1];
  return Number(told) * 1000;
};

/** The medians of both halves: the machine may have disturbed a single measurement. */
const halvesOf = (all: readonly Measured[]): readonly [Measured, Measured] => {
  const half = Math.floor(all.length / 2);
  return [medianOf(all.slice(0, half)), medianOf(all.slice(half))];
};

const medianOf = (all: readonly Measured[]): Measured => {
  const middle = (of: (one: Measured) => number) =>
    all.map(of).sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;
  return {
    heapMiB: middle(({ heapMiB }) => heapMiB),
    descriptors: middle(({ descriptors }) => descriptors),
    delayMs: middle(({ delayMs }) => delayMs),
  };
};

const growthOf = (first: Measured, last: Measured): readonly string[] => [
  ...(last.heapMiB <= first.heapMiB + spareMiB ? [] : ['the heap grows']),
  ...(last.descriptors <= first.descriptors + spareDescriptors ? [] : ['open files grow']),
  ...(last.delayMs <= Math.max(mostDelayMs, first.delayMs * 2) ? [] : ['the event loop slows']),
];

const toldOf = ({ heapMiB, descriptors, delayMs }: Measured): string =>
  `${heapMiB.toFixed(1)} MiB, ${descriptors} descriptors, ${delayMs.toFixed(1)} ms`;
