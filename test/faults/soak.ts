import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import type { Fault, Scene } from './fault.ts';
import { everyDatabase } from './fault-words.ts';
import { usageOf } from '../attacks/ground.ts';

/** The address of the inspector of a process that was started with `--inspect`. */
const inspectorOf = (port: string): Promise<string> =>
  until('the inspector listens', async () => {
    const asked = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    const [first] = ((await asked?.json()) ?? []) as { readonly webSocketDebuggerUrl: string }[];
    return first?.webSocketDebuggerUrl;
  });

interface Told {
  readonly id?: number;
  readonly result?: { readonly usedSize?: number };
}

/** Runs the garbage collector of that process. @returns MiB of live heap afterwards */
const livingHeapOf = async (port: string): Promise<number> => {
  const socket = new WebSocket(await inspectorOf(port));
  await once(socket, 'open');
  const ask = async (id: number, method: string): Promise<Told> => {
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [event] = (await once(socket, 'message')) as [{ readonly data: string }];
      const told = JSON.parse(event.data) as Told;
      if (told.id === id) return told;
    }
  };
  try {
    // Runs twice, because the second run collects what finalizers released.
    await ask(1, 'HeapProfiler.collectGarbage');
    await ask(2, 'HeapProfiler.collectGarbage');
    const { result } = await ask(3, 'Runtime.getHeapUsage');
    return (result?.usedSize ?? NaN) / 1024 / 1024;
  } finally {
    socket.close();
  }
};

/** The share of the time in which caches fill and V8 compiles. */
const warmingUp = 0.2;
const measurements = 8;
/** The allowed variation between two measurements. */
const spareMiB = 12;
const spareDescriptors = 12;
const mostDelayMs = 50;

interface Measured {
  readonly heapMiB: number;
  readonly descriptors: number;
  /** The mean delay of the event loop since the measurement before. */
  readonly delayMs: number;
}

/** Minutes of mixed load, in which the live heap, open files and delays must not grow. */
export const soak: Fault = {
  name: 'a long mixed load',
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

/** Compares the medians of both halves, because the machine may have disturbed a single measurement. */
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
