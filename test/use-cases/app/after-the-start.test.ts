import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { StoredSignal } from '../../../src/kernel/signals.ts';
import { openContainer } from '../../../src/app/container.ts';
import { AccessKey } from '../../../src/app/keys.ts';
import { loadConfig } from '../../../src/app/settings/config.ts';
import { Deadline } from '../../../src/kernel/ports.ts';
import { migratedDatabase } from '../../support/servers/migrated-database.ts';
import { until } from '../../support/until.ts';

test('a write that ends after a stop has emptied the container still sends its notification', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-after-'));
  const { url } = await migratedDatabase('sqlite');
  const config = loadConfig({ DATABASE_URL: url, DATA_DIR: folder, ROLES: 'api' });
  const container = await openContainer(config, pino({ level: 'silent' }));
  const access = container.get(AccessKey);
  const heard: string[] = [];
  container.get(StoredSignal).listen((accountIds) => void heard.push(...accountIds));
  await container.unbindAsync(Deadline);
  await container.unbindAsync(StoredSignal);
  const { account } = await access.createAccount({
    name: 'Zoo',
    email: 'a@b.example',
    plan: 'pro',
  });
  await until('others are told', () => heard.includes(account.id));
  expect(new Set(heard)).toEqual(new Set([account.id]));
  await container.unbindAllAsync();
  await rm(folder, { recursive: true });
});
