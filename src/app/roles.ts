import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { CounterSnapshots, IdempotencyKeys, UsageLog } from '../access/ports.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { HttpServer } from '../adapters/http/http-server.ts';
import { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import { CronJobs } from '../adapters/schedule/cron-jobs.ts';
import { Clock } from '../kernel/clock.ts';
import { Outbox } from '../kernel/outbox.ts';
import type { Config } from './config.ts';
import { apiJobs, workerJobs } from './jobs.ts';
import { recallCounters } from './known-counters.ts';

/** One role at work. Stopping waits for what is under way. */
interface RunningRole {
  stop(): Promise<void>;
}

/** Starts the roles of this process. @returns what stops them again: whoever is being served is finished */
export const startRoles = async (
  container: Container,
  config: Config,
  log: Logger,
): Promise<() => Promise<void>> => {
  await recallCounters(container);
  const server = container.get(HttpServer);
  await listen(server, config);
  const roles: RunningRole[] = [];
  if (config.roles.includes('api')) roles.push(startCounting(container, config, log));
  if (config.roles.includes('worker')) roles.push(startWorker(container, log));
  log.info({ roles: config.roles, host: config.host, port: config.port }, 'serving');
  return async () => {
    await server.stop();
    for (const role of roles) await role.stop();
    await container.unbindAllAsync();
  };
};

const startCounting = (container: Container, { redisUrl }: Config, log: Logger): RunningRole => {
  const counters = redisUrl === undefined ? container.get(CounterKeeper) : undefined;
  const usage = container.get(UsageRecorder);
  const jobs = apiJobs({ counters, usage });
  const cron = new CronJobs(jobs, log);
  return {
    stop: async () => {
      await cron.stop();
      for (const job of jobs) {
        await job.run().catch((error: unknown) => {
          log.error({ job: job.name, err: error }, 'could not be stored before stopping');
        });
      }
    },
  };
};

const startWorker = (container: Container, log: Logger): RunningRole => {
  const relay = container.get(OutboxRelay);
  container.get(StoredSignal).listen(() => {
    relay.run().catch((error: unknown) => {
      log.warn({ err: error }, 'relay stopped, will run again on its schedule');
    });
  });
  const ports = {
    relay,
    outbox: container.get(Outbox),
    idempotencyKeys: container.get(IdempotencyKeys),
    counterSnapshots: container.get(CounterSnapshots),
    usage: container.get(UsageLog),
    clock: container.get(Clock),
  };
  const cron = new CronJobs(workerJobs(ports), log);
  return {
    stop: async () => {
      await cron.stop();
      await relay.stop();
    },
  };
};

const listen = async (server: HttpServer, { host, port }: Config): Promise<void> => {
  try {
    await server.listen(host, port);
  } catch (error) {
    const { code } = error as { code?: string };
    const address = `${host}:${String(port)}`;
    const message =
      code === 'EADDRINUSE'
        ? `${address} is in use by another program; set PORT to a free one.`
        : `Cannot listen on ${address} (${code ?? 'unknown'}); set HOST and PORT.`;
    throw new Error(message, { cause: error });
  }
};
