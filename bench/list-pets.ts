import { join } from 'node:path';
import pino from 'pino';
import { loadConfig } from '../src/app/config.ts';
import { openContainer } from '../src/app/container.ts';
import { AccessKey } from '../src/app/keys.ts';
import { Database } from '../src/adapters/kysely/database.ts';
import { compare } from './load.ts';
import { freePort, startProgram } from './processes.ts';

const animals = 100_000;

/** `GET /v1/pets?limit=20` against a bare node:http server that runs the same prepared query. */
export const listPetsBench = async (folder: string): Promise<readonly string[]> => {
  const file = join(folder, 'list-pets.db');
  const environment = {
    DATABASE_URL: `sqlite:${file}`,
    DATA_DIR: folder,
    PORT: String(await freePort()),
    ROLES: 'api',
  };
  const { accountId, secret } = await storeWithAnimals(environment);

  const barePort = await freePort();
  const bare = `http://127.0.0.1:${String(barePort)}/`;
  const ours = `http://127.0.0.1:${environment.PORT}/v1/pets?limit=20`;
  await startProgram(['bench/bare-server.ts', file, String(barePort), accountId], bare);
  await startProgram(['src/main.ts', 'serve'], ours, environment);

  const headers = { Authorization: `Bearer ${secret}` };
  const [floor, api] = await compare([
    { name: 'bare node:http', url: bare },
    { name: 'GET /v1/pets?limit=20', url: ours, headers },
  ]);
  const ratio = (api?.perSecond ?? 0) / (floor?.perSecond ?? 1);
  return [
    `list ${String(animals)} animals by pages of 20, SQLite, 32 connections`,
    ...[floor, api].map(
      (one) => `  ${(one?.name ?? '').padEnd(24)}${(one?.perSecond ?? 0).toFixed(0)} requests/s`,
    ),
    `  ratio ${(ratio * 100).toFixed(0)} % (wanted: at least 60 %)`,
  ];
};

const storeWithAnimals = async (environment: Readonly<Record<string, string>>) => {
  const container = await openContainer(loadConfig(environment), pino({ level: 'silent' }));
  try {
    const { account, key } = await container.get(AccessKey).createAccount({
      name: 'Bench',
      email: 'bench@animal-store.test',
      plan: 'enterprise',
    });
    await container.get(Database).transaction(async (db) => {
      for (let first = 0; first < animals; first += 1000) {
        const rows = Array.from({ length: 1000 }, (_, at) => ({
          account_id: account.id,
          name: `Animal ${String(first + at)}`,
          category_id: BigInt(1 + (at % 9)),
          status: 'available',
        }));
        await db.insertInto('pets').values(rows).execute();
      }
    });
    return { accountId: account.id, secret: key.secret };
  } finally {
    await container.unbindAllAsync();
  }
};
