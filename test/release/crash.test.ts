import { describe, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseKinds } from '../support/servers/databases.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { newHome } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

// Kills at other moments are in test/release/faults.test.ts.
const seed = Number(process.env['CRASH_SEED'] ?? randomInt(1_000_000));

describe.each(databaseKinds)(`killed during its first start on %s (CRASH_SEED=${seed})`, (kind) => {
  test.each([1, 2])('the service starts normally the next time (%i)', async (round) => {
    const random = seededRandom(seed + round);
    const home = await newHome(kind);
    const url = home.settings['DATABASE_URL'] ?? '';
    const log = `${url.replace('sqlite:', '')}-wal`;
    const facts = kind === 'mysql' ? new StoredFacts(url) : undefined;
    const service = home.begin();
    await until('the schema is being made', async () =>
      facts ? (await facts.tables()) > 1 : Boolean(statSync(log, { throwIfNoEntry: false })?.size),
    );
    await delay(random() * (kind === 'mysql' ? 80 : 10));
    await service.end('SIGKILL');
    await facts?.close();
    const next = await home.start();
    await until('it is ready', async () => (await fetch(`${next.origin}/readyz`)).ok);
    await home.remove();
  });
});
