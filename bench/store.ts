import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import pino from 'pino';
import { createDatabase, startMariaDb } from '../test/support/servers/mariadb.ts';
import { loadCore, stopPrograms } from './programs.ts';
import { Database } from '../src/adapters/kysely/database.ts';
import { loadConfig } from '../src/app/settings/config.ts';
import { openContainer } from '../src/app/container.ts';
import { AccessKey } from '../src/app/keys.ts';
import { UsageLog } from '../src/access/ports.ts';

/** With the small log that the tests use, writes stop for more than a second while pages are flushed to free it. */
const roomForWrites = ['--innodb-buffer-pool-size=1G', '--innodb-log-file-size=1G'];

/**
 * Runs a private MariaDB on the load's core while `work` runs, because its CPU time does not belong to the service. It
 * has normal priority: threads that spin for a lock would otherwise keep the lock's holder, or wrk, from running.
 * @param work receives a function that creates an empty database and returns its URL
 */
export const withMariaDb = async <T>(
  work: (newDatabase: () => Promise<string>) => Promise<T>,
): Promise<T> => {
  const server = await startMariaDb({ extraArguments: roomForWrites });
  try {
    const pid = String(server.pid());
    await promisify(execFile)('taskset', ['-a', '-c', '-p', loadCore, pid]);
    return await work(async () => (await createDatabase(server.url)).url);
  } finally {
    // The programs must close their connections before MariaDB stops.
    await stopPrograms();
    await server.stop();
  }
};

export const animals = 100_000;

/** So high that no round of a benchmark reaches a limit. */
const ownLimits = { perMinute: 100_000_000, perDay: 1_000_000_000 };

/** `linkSecret` signs in to the dashboard once. */
export interface BenchStore {
  readonly accountId: string;
  readonly secret: string;
  readonly linkSecret: string;
}

/** Creates a store with many animals and a key for it. */
export const storeWithAnimals = async (
  environment: Readonly<Record<string, string>>,
  count = animals,
): Promise<BenchStore> => {
  const container = await openContainer(loadConfig(environment), pino({ level: 'silent' }));
  try {
    const access = container.get(AccessKey);
    const { account, key } = await access.createAccount({
      name: 'Bench',
      email: 'bench@animal-store.test',
      plan: 'enterprise',
    });
    await access.setPlan(account.id, 'enterprise', { requests: ownLimits });
    await container.get(Database).transaction(async (db) => {
      for (let first = 0; first < count; first += 1000) {
        const rows = Array.from({ length: 1000 }, (_, at) => ({
          account_id: account.id,
          name: `Animal ${String(first + at)}`,
          category_id: BigInt(1 + (at % 9)),
          status: 'available',
          searched_name: `ANIMAL ${String(first + at)}`,
        }));
        await db.insertInto('pets').values(rows).execute();
      }
    });
    const link = await access.signInLinkFor(account.email);
    return { accountId: account.id, secret: key.secret, linkSecret: link.secret };
  } finally {
    await container.unbindAllAsync();
  }
};

const hourMs = 3_600_000;
const keptHours = 90 * 24;
const otherKeys = 99;
const calls = [
  ['listPets', '2xx'],
  ['listPets', 'refused'],
  ['getPet', '2xx'],
] as const;

/** Creates as many keys as an account may use, each called in every hour for which usage is kept. */
export const seedUsage = async (
  environment: Readonly<Record<string, string>>,
  accountId: string,
): Promise<void> => {
  const container = await openContainer(loadConfig(environment), pino({ level: 'silent' }));
  try {
    const [access, usage] = [container.get(AccessKey), container.get(UsageLog)];
    const lastHour = Math.floor(Date.now() / hourMs);
    for (let number = 0; number < otherKeys; number++) {
      const key = await access.createApiKey({ accountId, name: `Key ${String(number)}` });
      const hours = Array.from({ length: keptHours }, (_, before) =>
        calls.map(([operation, outcome]) => {
          const hour = new Date((lastHour - before) * hourMs);
          return { accountId, hour, keyId: key.id, operation, outcome, requests: 7 };
        }),
      );
      await usage.add(hours.flat(), new Map());
    }
  } finally {
    await container.unbindAllAsync();
  }
};
