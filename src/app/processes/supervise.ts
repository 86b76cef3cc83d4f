import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { createLog } from '../log.ts';
import type { Config } from '../settings/config.ts';
import { redaction } from '../settings/redaction.ts';
import { startWarnings } from '../settings/start-warnings.ts';
import { stopDeadlines, stopOnSignal } from '../stop-process.ts';
import { forkChild, type Child, type ChildOptions } from './child.ts';
import { GatheredMetrics } from './gathered-metrics.ts';
import { StartFailed, Supervisor } from './supervisor.ts';

/** A child that has missed its own deadline is stuck. */
const killAfterMs = 2_000;

/** Runs the service as several processes until a signal stops it. This one only starts and watches them. */
export const supervise = async (config: Config): Promise<void> => {
  const { log, flush } = createLog(config.logLevel, redaction(process.env), {
    pid: process.pid,
  });
  for (const warning of startWarnings(config, process.env)) log.warn(warning);
  // Each process accepts its connections by itself. Otherwise this one would accept and hand over all of them.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const { ending, replaced } = stopDeadlines(config);
  const metrics = new GatheredMetrics();
  const supervisor = supervisorOf(config, log, metrics, {
    ending: ending + killAfterMs,
    replaced: replaced + killAfterMs,
  });
  stopOnSignal(() => supervisor.stop(), {
    ...{ log, flush, deadlineMs: ending + 2 * killAfterMs },
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
    const { first, places } = await started;
    if (config.production) log.info({ processes: config.processes, ...places }, 'ready');
    else first.introduce();
    flush();
  } catch (error) {
    supervisor.kill();
    flush();
    if (!(error instanceof StartFailed)) throw error;
    // It has said why.
    process.exit(error.ending.code ?? 1);
  }
};

const supervisorOf = (
  { roles }: Config,
  log: ConstructorParameters<typeof Supervisor>[0]['log'],
  metrics: GatheredMetrics,
  stopMs: ChildOptions['stopMs'],
): Supervisor => {
  const supervisor = new Supervisor({
    log,
    pause: delay,
    elapsed: () => performance.now(),
    fork: (at) => {
      const child: Child = forkChild({
        roles: at === 0 ? roles : roles.filter((role) => role !== 'worker'),
        stopMs,
        gather: () => metrics.gather(supervisor.serving, supervisor.replacedAfterDeath),
        onLast: (snapshot) => {
          metrics.keep(child, snapshot);
        },
      });
      void child.ended.then(() => metrics.ended(child));
      return child;
    },
  });
  return supervisor;
};
