import type { Command } from 'commander';
import type { Container } from 'inversify';
import type { Logger } from 'pino';
import { IdempotencyKeys } from '../../access/ports.ts';
import { OutboxRelay } from '../../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../../adapters/events/stored-signal.ts';
import { HttpServer } from '../../adapters/http/http-server.ts';
import { CronJobs } from '../../adapters/schedule/cron-jobs.ts';
import { DomainError } from '../../kernel/domain-error.ts';
import { Clock } from '../../kernel/clock.ts';
import { Outbox } from '../../kernel/outbox.ts';
import { loadConfig, type Config } from '../config.ts';
import { createLog, openContainer } from '../container.ts';
import { jobs } from '../jobs.ts';
import { AccessKey } from '../keys.ts';

const stopDeadlineMs = 10_000;

export const serveCommand = (program: Command): void => {
  program
    .command('serve')
    .description('run the service until it is told to stop')
    .action(async () => {
      const config = loadConfig(process.env);
      const log = createLog(config.logLevel);
      const container = await openContainer(config, log);
      try {
        const stop = await start(container, config, log);
        stopOnSignal(stop, log);
        // After listening: a start that fails must not use up the one time that the key is shown.
        const welcome = await firstAccount(container, config);
        process.stdout.write(`${banner(config, welcome)}\n`);
      } catch (error) {
        await container.unbindAllAsync();
        throw error;
      }
    });
};

/** Starts the roles of this process. @returns what stops them again: whoever is being served is finished */
const start = async (
  container: Container,
  config: Config,
  log: Logger,
): Promise<() => Promise<void>> => {
  const server = container.get(HttpServer);
  await listen(server, config);
  const flush = setInterval(() => {
    log.flush();
  }, 1000);
  const relay = container.get(OutboxRelay);
  const cron = config.roles.includes('worker') ? startWorker(container, relay, log) : undefined;
  log.info({ roles: config.roles, host: config.host, port: config.port }, 'serving');
  return async () => {
    await Promise.all([server.stop(), cron?.stop()]);
    await relay.stop();
    await container.unbindAllAsync();
    clearInterval(flush);
  };
};

const startWorker = (container: Container, relay: OutboxRelay, log: Logger): CronJobs => {
  container.get(StoredSignal).listen(() => {
    relay.run().catch((error: unknown) => {
      log.warn({ err: error }, 'relay stopped, will run again on its schedule');
    });
  });
  const ports = {
    relay,
    outbox: container.get(Outbox),
    idempotencyKeys: container.get(IdempotencyKeys),
    clock: container.get(Clock),
  };
  return new CronJobs(jobs(ports), log);
};

const listen = async (server: HttpServer, { host, port }: Config): Promise<void> => {
  try {
    await server.listen(host, port);
  } catch (error) {
    const { code } = error as { code?: string };
    const address = `${host}:${String(port)}`;
    if (code === 'EADDRINUSE') {
      throw new Error(`${address} is in use by another program; set PORT to a free one.`, {
        cause: error,
      });
    }
    throw new Error(`cannot listen on ${address} (${code ?? 'unknown'}); set HOST and PORT.`, {
      cause: error,
    });
  }
};

/** The first signal stops in good order and exits 0; a second one exits at once. */
const stopOnSignal = (stop: () => Promise<void>, log: Logger): void => {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    stopping = true;
    log.info({ signal }, 'stopping: finishing requests under way');
    void stopInOrder(stop, log);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
};

const stopInOrder = async (stop: () => Promise<void>, log: Logger): Promise<void> => {
  setTimeout(() => {
    log.error('not finished in time, stopping anyway');
    exit(log, 1);
  }, stopDeadlineMs);
  try {
    await stop();
    log.info('stopped');
    exit(log, 0);
  } catch (error) {
    log.error({ err: error }, 'could not stop in good order');
    exit(log, 1);
  }
};

/** A connection to a database that hangs must not keep a process alive that has nothing left to do. */
const exit = (log: Logger, code: number): void => {
  log.flush(() => {
    process.exit(code);
  });
};

interface Welcome {
  readonly accountId: string;
  readonly secret: string;
}

/** Outside production an empty database gets an account, so that there is something to try. */
const firstAccount = async (
  container: Container,
  { production }: Config,
): Promise<Welcome | undefined> => {
  const access = container.get(AccessKey);
  if (production || (await access.listAccounts()).length > 0) return undefined;
  try {
    const { account, key } = await access.createAccount({
      name: 'My animal store',
      email: 'owner@animal-store.test',
      plan: 'pro',
    });
    return { accountId: account.id, secret: key.secret };
  } catch (error) {
    // Another process that started at the same moment was faster.
    if (error instanceof DomainError && error.code === 'email_taken') return undefined;
    throw error;
  }
};

const banner = (
  { publicUrl, production, roles, host, port }: Config,
  welcome: Welcome | undefined,
): string => {
  const lines = roles.includes('api')
    ? [`Animal Store serves ${publicUrl} (reference: ${publicUrl.replace(/\/v1$/, '/docs')})`]
    : [
        `Animal Store runs as ${roles.join(', ')}; health at http://${host}:${String(port)}/healthz`,
      ];
  if (welcome) {
    lines.push(
      '',
      `Account ${welcome.accountId} on plan pro was made for you. Its API key, shown this once:`,
      `  ${welcome.secret}`,
      '',
      'Try it:',
      `  curl -H 'Authorization: Bearer ${welcome.secret}' '${publicUrl}/pets?limit=20'`,
    );
  } else if (!production) {
    lines.push('Another API key: node src/main.ts key create --account ID --name NAME');
  }
  return lines.join('\n');
};
