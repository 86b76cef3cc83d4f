import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Service } from './service-process.ts';

export interface Probe {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly tookMs: number;
  /**
   * How long the service itself was busy in that time: its main thread ran, and an idle server was faster
   * at the same time.
   */
  readonly ownMs: number;
  /** `ownMs` at the speed of a quiet machine, measured by reference work in the same run. */
  readonly workMs: number;
  /** Like `ownMs`, but includes waits for a disk or a lock. */
  readonly stillMs: number;
}

/** The most work before an answer; see `workMs`. */
export const longestHealthMs = 250;

export interface HealthWatch {
  readonly probes: readonly Probe[];
  /** Waits for one more answer, so that no earlier one is outstanding. */
  settle(): Promise<void>;
  /** @param since as in `Date.now()` */
  worst(since?: number): Probe | undefined;
  stop(): void;
}

const prober = join(import.meta.dirname, 'health-prober.ts');

/**
 * Polls `/healthz` from a separate process.
 * @param everyMs often enough for `longestHealthMs`, but only a small load on a busy machine
 */
export const watchHealth = async (
  { origin, pid }: Pick<Service, 'origin' | 'pid'>,
  everyMs = 100,
): Promise<HealthWatch> => {
  const args = ['--disable-warning=ExperimentalWarning', prober, origin];
  const child = spawn(process.execPath, [...args, String(pid), String(everyMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  const probes: Probe[] = [];
  let unread = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unread + text).split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) probes.push(JSON.parse(line) as Probe);
  });
  const next = () => once(child.stdout, 'data');
  await next();
  return {
    probes,
    settle: async () => {
      const since = Date.now();
      while ((probes.at(-1)?.at ?? 0) < since) await next();
    },
    worst: (since = 0) =>
      probes.filter(({ at }) => at >= since).toSorted((a, b) => b.workMs - a.workMs)[0],
    stop: () => void child.kill(),
  };
};
