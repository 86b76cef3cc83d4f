import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { migrateUp } from '../../src/adapters/kysely/migrations.ts';
import { SealedValues } from '../../src/adapters/kysely/sealed-values.ts';
import { AesGcmSealer } from '../../src/adapters/system/secrets.ts';
import { databaseKinds, openDatabase } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { fillSealed, openedBy, sealedBesides } from '../support/sealed-rows.ts';
import { newHome, type Home, type Settings } from '../support/service/service-process.ts';
import { until } from '../support/until.ts';

const oldKey = '8c1e5b0f72d94a36c0d7e1f9b3a68245';
const newKey = 'f04b7d9e1c5a28637be0d1f8a94c3e52';
const rotated = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey };
const before = new AesGcmSealer(Buffer.from(oldKey));
const after = new AesGcmSealer(Buffer.from(newKey));
const hosts = 10_000;
const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

describe.each(databaseKinds)('the secret key of a service on %s', (kind) => {
  let home: Home;
  let database: Database;
  beforeEach(async () => {
    home = await newHome(await migratedDatabase(kind));
    database = openDatabase(home.settings['DATABASE_URL'] ?? '');
    await migrateUp(database);
  });
  afterEach(async () => {
    await database.close();
    await home.remove();
  });

  const command = async (args: readonly string[], settings: Settings) => {
    const { code, stdout, stderr } = await home.run(['secret-key', ...args, '--json'], settings);
    return { code, stderr, printed: JSON.parse(stdout || 'null') as unknown };
  };
  const resealedUntilNow = async (): Promise<number> => {
    const uses = await new SealedValues(database, after).uses();
    return uses.find(({ keyId }) => keyId === after.keyIds[0])?.values ?? 0;
  };

  test('is replaced by a command that can be interrupted and repeated', async () => {
    await fillSealed(database, before, hosts);
    const env = { PATH: process.env['PATH'], ...home.settings, ...rotated };
    const killed = spawn(process.execPath, [main, 'secret-key', 'reseal'], {
      env,
      stdio: 'ignore',
    });
    const exit = once(killed, 'exit');
    await until('some is sealed anew', async () => (await resealedUntilNow()) > 0);
    killed.kill('SIGKILL');
    await exit;
    const partly = await resealedUntilNow();
    expect(partly).toBeGreaterThan(0);
    expect(partly).toBeLessThan(hosts);

    const rest = hosts + sealedBesides - partly;
    expect(await command(['reseal'], rotated)).toMatchObject({
      code: 0,
      printed: { resealed: rest, left: [] },
    });
    expect(await command(['reseal'], rotated)).toMatchObject({
      printed: { resealed: 0, left: [] },
    });
    expect((await command(['status'], { SECRET_KEY: newKey })).printed).toEqual([
      { keyId: after.keyIds[0], key: 'current', values: hosts + sealedBesides },
    ]);
    expect(await openedBy(database, after)).toBe(hosts + sealedBesides);
  });
});
