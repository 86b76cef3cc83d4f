import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { AesGcmSealer } from '../../src/adapters/system/secrets.ts';
import { openDatabase } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { fillSealed, openedBy, sealedBesides } from '../support/sealed-rows.ts';
import { newHome, type Home, type Settings } from '../support/service/service-process.ts';

const oldKey = '8c1e5b0f72d94a36c0d7e1f9b3a68245';
const newKey = 'f04b7d9e1c5a28637be0d1f8a94c3e52';
const before = new AesGcmSealer(Buffer.from(oldKey));
const after = new AesGcmSealer(Buffer.from(newKey));

let home: Home;
let database: Database;
beforeEach(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
  database = openDatabase(home.settings['DATABASE_URL'] ?? '');
});
afterEach(async () => {
  await database.close();
  await home.remove();
});

const command = async (args: readonly string[], settings: Settings) => {
  const { code, stdout, stderr } = await home.run(['secret-key', ...args, '--json'], settings);
  return { code, stderr, printed: JSON.parse(stdout || 'null') as unknown };
};
test('the secret key is replaced by a command, which changes nothing when it is repeated', async () => {
  await fillSealed(database, before, 3);
  const rotated = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey };
  const all = 3 + sealedBesides;
  expect(await command(['reseal'], rotated)).toMatchObject({
    code: 0,
    printed: { resealed: all, left: [] },
  });
  expect(await command(['reseal'], rotated)).toMatchObject({ printed: { resealed: 0, left: [] } });
  expect((await command(['status'], { SECRET_KEY: newKey })).printed).toEqual([
    { keyId: after.keyIds[0], key: 'current', values: all },
  ]);
  expect(await openedBy(database, after)).toBe(all);
});

test('nothing changes when the previous key is wrong, and the error says which key it was', async () => {
  await fillSealed(database, before, 3);
  const wrong = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: 'x'.repeat(32) };
  const { code, printed } = await command(['reseal'], wrong);
  expect([code, printed]).toMatchObject([1, { resealed: 0, left: { length: 3 + sealedBesides } }]);
  expect(JSON.stringify(printed)).toContain(`another secret key, with the id ${before.keyIds[0]}`);
  expect(await openedBy(database, before)).toBe(3 + sealedBesides);

  const service = await home.start({ SECRET_KEY: newKey });
  await service.end('SIGTERM');
  const [line = ''] = /^.*does not have: give it as SECRET_KEY.*$/m.exec(service.stdout()) ?? [];
  expect(JSON.parse(line)).toMatchObject({
    level: 50,
    keyId: before.keyIds[0],
    values: 3 + sealedBesides,
  });
});
