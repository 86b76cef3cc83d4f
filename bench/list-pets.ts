import { join } from 'node:path';
import { compare, type Measured } from './load.ts';
import { freePort, startProgram } from './processes.ts';
import { animals, storeWithAnimals } from './store.ts';

/**
 * `GET /v1/pets?limit=20` against a bare node:http server that runs the same prepared query, and against itself
 * without the access step (key, quota, headers).
 */
export const listPetsBench = async (folder: string): Promise<readonly string[]> => {
  const file = join(folder, 'list-pets.db');
  const settings = { DATABASE_URL: `sqlite:${file}`, DATA_DIR: folder, ROLES: 'api' };
  const { accountId, secret } = await storeWithAnimals(settings);

  const [barePort, openPort, port] = [await freePort(), await freePort(), await freePort()];
  const bare = `http://127.0.0.1:${String(barePort)}/`;
  const open = `http://127.0.0.1:${String(openPort)}/v1/pets?limit=20`;
  const ours = `http://127.0.0.1:${String(port)}/v1/pets?limit=20`;
  await startProgram(['bench/bare-server.ts', file, String(barePort), accountId], bare);
  await startProgram(['bench/without-access.ts', accountId], open, {
    ...settings,
    PORT: String(openPort),
  });
  await startProgram(['--max-semi-space-size=16', 'src/main.ts', 'serve'], ours, {
    ...settings,
    PORT: String(port),
  });

  const headers = { Authorization: `Bearer ${secret}` };
  const measured = await compare([
    { name: 'bare node:http', url: bare },
    { name: 'without the access step', url: open },
    { name: 'GET /v1/pets?limit=20', url: ours, headers },
  ]);
  const [floor = 1, without = 1, api = 0] = measured.map((one) => one.perSecond);
  return [
    `list ${String(animals)} animals by pages of 20, SQLite, 32 connections`,
    ...measured.map(line),
    `  of the bare server:   ${percent(api / floor)} (wanted: at least 60 %)`,
    `  the access step takes ${percent(1 - api / without)} (wanted: less than 15 %)`,
  ];
};

const line = ({ name, perSecond }: Measured): string =>
  `  ${name.padEnd(26)}${perSecond.toFixed(0).padStart(6)} requests/s`;

const percent = (ratio: number): string => `${(ratio * 100).toFixed(0)} %`;
