import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CoalescedRuns } from '../../kernel/signals.ts';
import { createLog } from '../log.ts';
import type { Config } from '../settings/settings.ts';
import { redaction } from '../settings/redaction.ts';
import { startWarnings } from '../settings/start-warnings.ts';
import { stopDeadlines, stopOnSignal } from '../stop-process.ts';
import { forkChild, GatheredMetrics, type Child, type Ending } from './children.ts';

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
const longLifeMs = 60_000;
const longestStartMs = 60_000;
/** Time for the others to stop if one cannot start. */
const longestGivingUpMs = 4_000;

export interface SupervisorPorts {
  readonly fork: (at: number) => Child;
  readonly log: Logger;
  readonly pause: (ms: number) => Promise<unknown>;
  /** Returns monotonic milliseconds. */
  readonly elapsed: () => number;
}

class StartFailed extends Error {
  readonly exitCode: number;

  constructor({ code }: Ending) {
    super('A process ended before it served.');
    // Ending normally is a failure too.
    this.exitCode = code === null || code === 0 ? 1 : code;
  }
}

export class Supervisor {
  readonly #ports: SupervisorPorts;
  readonly #children: Child[] = [];
  /** Whether each living process serves. */
  readonly #alive = new Map<Child, boolean>();
  readonly #rounds = new CoalescedRuns(() => this.#replaceEach());
  #stopping = false;
  replacedAfterDeath = 0;

  constructor(ports: SupervisorPorts) {
    this.#ports = ports;
  }

  get serving(): readonly Child[] {
    return [...this.#alive].flatMap(([child, serves]) => (serves ? [child] : []));
  }

  /**
   * Starts the first process alone, because it creates what is missing.
   * @returns the first process; undefined if `stop` was called meanwhile
   * @throws StartFailed if one does not serve; then none is left
   */
  async start(count: number): Promise<Child | undefined> {
    try {
      const first = this.#fork(0);
      await served(first);
      if (this.#stopping) return undefined;
      const others = Array.from({ length: count - 1 }, (_, at) => this.#fork(at + 1));
      await Promise.all(others.map(served));
      this.#children.push(first, ...others);
      for (const [at, child] of this.#children.entries()) void this.#keep(at, child);
      return first;
    } catch (error) {
      // A requested stop has its own deadline.
      if (this.#stopping) return undefined;
      await Promise.race([
        this.stop().catch(() => undefined),
        this.#ports.pause(longestGivingUpMs),
      ]);
      this.kill();
      throw error;
    }
  }

  /** Replaces one process at a time. A call during a round starts another round. */
  replaceAll(): Promise<void> {
    return this.#rounds.run();
  }

  /** Stops all processes. @throws Error if one did not stop gracefully */
  async stop(): Promise<void> {
    this.#stopping = true;
    const endings = await Promise.all(
      [...this.#alive].map(async ([child, serves]) => {
        child.stop('ending');
        return (await child.ended).code === 0 || !serves;
      }),
    );
    if (endings.includes(false)) throw new Error('A process did not end cleanly.');
  }

  kill(): void {
    this.#stopping = true;
    for (const child of this.#alive.keys()) child.kill();
  }

  #fork(at: number): Child {
    const child = this.#ports.fork(at);
    this.#alive.set(child, false);
    void child.served.then((serves) => {
      if (serves) this.#alive.set(child, true);
    });
    void child.ended.then(() => this.#alive.delete(child));
    return child;
  }

  async #keep(at: number, kept: Child): Promise<void> {
    const { log, pause, elapsed } = this.#ports;
    const isKept = () => !this.#stopping && this.#children[at] === child;
    let child = kept;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const since = elapsed();
      const ending = await child.ended;
      if (!isKept()) return;
      if (elapsed() - since >= longLifeMs) pauseMs = firstPauseMs;
      log.error({ ended: child.pid, ...ending, pauseMs }, 'a process ended, replacing it');
      this.replacedAfterDeath += 1;
      await pause(pauseMs);
      if (!isKept()) return;
      child = this.#children[at] = this.#fork(at);
      void this.#servesInTime(child);
    }
  }

  async #servesInTime(child: Child): Promise<boolean> {
    const late = this.#ports.pause(longestStartMs).then(() => false);
    const serves = await Promise.race([child.served, late]);
    if (!serves && !this.#stopping) child.kill();
    return serves;
  }

  async #replaceEach(): Promise<void> {
    for (const at of this.#children.keys()) {
      if (this.#stopping || !(await this.#replace(at))) return;
    }
    this.#ports.log.info('all processes are replaced');
  }

  /** @returns whether the new process serves */
  async #replace(at: number): Promise<boolean> {
    const child = this.#fork(at);
    const serves = await this.#servesInTime(child);
    if (this.#stopping) return false;
    if (!serves) {
      this.#ports.log.error('new process not ready; keeping the old ones');
      return false;
    }
    const old = this.#children[at];
    this.#children[at] = child;
    void this.#keep(at, child);
    old?.stop('replaced');
    await old?.ended;
    return !this.#stopping;
  }
}

/** @throws StartFailed */
const served = async (child: Child): Promise<void> => {
  if (!(await child.served)) throw new StartFailed(await child.ended);
};

const killAfterMs = 2_000;

/** Runs the service as several processes until a signal stops it. This process only starts and watches them. */
export const supervise = async (config: Config): Promise<void> => {
  const { log, flush } = createLog(config.logLevel, redaction(process.env), {
    pid: process.pid,
  });
  for (const warning of startWarnings(config, process.env)) log.warn(warning);
  // Each process accepts its own connections. By default, this process would distribute them.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { ending, replaced } = stopDeadlines(config);
  const stopMs = { ending: ending + killAfterMs, replaced: replaced + killAfterMs };
  const metrics = new GatheredMetrics();
  const gather = () => metrics.gather(supervisor.serving, supervisor.replacedAfterDeath);
  const roles = { first: config.roles, others: config.roles.filter((role) => role !== 'worker') };
  const fork = (at: number) => {
    const child = forkChild({ roles: at === 0 ? roles.first : roles.others, stopMs, gather });
    void metrics.add(child);
    return child;
  };
  const elapsed = () => performance.now();
  const supervisor = new Supervisor({ log, pause: delay, elapsed, fork });
  stopOnSignal(() => supervisor.stop(), {
    log,
    flush,
    deadlineMs: ending + 2 * killAfterMs,
    atOnce: () => {
      supervisor.kill();
    },
  });
  const started = supervisor.start(config.processes);
  process.on('SIGHUP', () => {
    log.info('SIGHUP: replacing all processes, one by one');
    started
      .then(() => supervisor.replaceAll())
      .catch((error: unknown) => {
        log.error({ err: error }, 'not all processes are replaced');
      });
  });
  try {
    const first = await started;
    first?.introduce();
    flush();
  } catch (error) {
    flush();
    if (!(error instanceof StartFailed)) throw error;
    process.exit(error.exitCode);
  }
};
