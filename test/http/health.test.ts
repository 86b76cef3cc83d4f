import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { subscribersOf } from '../../src/app/subscriptions.ts';
import { Database } from '../../src/adapters/kysely/database.ts';
import { QueuesKey, SitesKey } from '../../src/app/keys.ts';
import { Unavailable } from '../../src/kernel/ports.ts';
import { usualKinds } from '../support/servers/databases.ts';
import { deployEntries } from '../support/sites/deploy-entries.ts';
import { startApi, type RunningApi } from '../support/http/running-api.ts';
import { until } from '../support/until.ts';

describe.each(usualKinds)('health on %s', (kind) => {
  let api: RunningApi;
  beforeAll(async () => {
    api = await startApi(kind);
  });
  afterAll(() => api.close());

  const refusedUpload = async (): Promise<void> => {
    const project = await api.container.get(SitesKey).startProject(api.account.id, 'Refused');
    expect(await deployEntries(api.container, project)).toMatchObject({ state: 'failed' });
  };

  test('/healthz says that the process is alive, without a key', async () => {
    const { status, body } = await api.send('/healthz', { key: null });
    expect([status, body]).toEqual([200, { status: 'ok' }]);
  });

  test('/readyz says that the database is reachable and migrated', async () => {
    const { status, body } = await api.send('/readyz', { key: null });
    expect(status).toBe(200);
    expect(body).toEqual({ status: 'ok', database: 'ok', migrations: 'ok' });
  });

  test('/readyz reports a missing migration', async () => {
    const { root } = api.container.get(Database);
    const applied = root.$extendTables<{ kysely_migration: { name: string; timestamp: string } }>();
    const rows = await applied.selectFrom('kysely_migration').selectAll().execute();
    const name = rows.at(-1)?.name ?? '';
    await applied.deleteFrom('kysely_migration').where('name', '=', name).execute();
    const { status, headers, body } = await api.send('/readyz');
    await applied.insertInto('kysely_migration').values(rows.slice(-1)).execute();
    expect(status).toBe(503);
    expect(headers.get('Retry-After')).toBe('1');
    expect(body).toEqual({
      status: 'not ready',
      database: 'ok',
      migrations: 'not ready',
    });
    expect((await api.send('/readyz')).status).toBe(200);
  });

  test('/readyz reports an unavailable database, while /healthz still answers 200', async () => {
    const gone = new Unavailable('The database', new Error('connect ECONNREFUSED 10.1.2.3:3306'));
    const ping = jest.spyOn(api.container.get(Database), 'ping').mockRejectedValue(gone);
    const [ready, alive] = [await api.send('/readyz'), await api.send('/healthz')];
    ping.mockRestore();
    expect([ready.status, alive.status]).toEqual([503, 200]);
    expect(ready.body).toMatchObject({ database: 'not ready' });
    expect(ready.text).not.toMatch(/reach|10\.1\.2\.3/);
  });

  test('/metrics counts the answers by operation and status', async () => {
    const count = async (operation: string, status: string): Promise<number> => {
      const { text } = await api.send('/metrics', { key: null });
      const labels = `{operation="${operation}",status="${status}"}`;
      const line = text.split('\n').find((one) => one.includes(`_seconds_count${labels}`));
      return Number(line?.split(' ')[1] ?? 0);
    };
    const before = [await count('listPets', '200'), await count('listPets', '401')];
    await api.send('/v1/pets');
    await api.send('/v1/pets');
    await api.send('/v1/pets', { key: null });
    const after = [await count('listPets', '200'), await count('listPets', '401')];
    expect(after).toEqual([(before[0] ?? 0) + 2, (before[1] ?? 0) + 1]);
  });

  test('/metrics is in the format of Prometheus and shows the process and the outbox', async () => {
    const { events } = api.container.get(QueuesKey);
    const shown = (waits: number) =>
      until(`${waits} deliveries wait`, async () => {
        const answer = await api.send('/metrics', { key: null });
        return answer.text.includes(`\noutbox_deliveries{state="waiting"} ${waits}\n`) && answer;
      });
    await events.run();
    await refusedUpload();
    const waiting = await shown(subscribersOf('deploy_failed').length);
    await events.run();
    const delivered = await shown(0);
    expect(waiting.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(delivered.text).toMatch(/^outbox_deliveries\{state="parked"\} 0$/m);
    expect(delivered.text).toMatch(/^process_resident_memory_bytes \d+$/m);
  });

  test('/metrics has no series for unknown paths', async () => {
    for (const path of ['/v1/pets/abc', '/made-up-1', '/made-up-2']) await api.send(path);
    const { text } = await api.send('/metrics');
    expect(text).not.toMatch(/made-up|abc/);
  });
});

describe('a process without the role api', () => {
  test('answers health and metrics only', async () => {
    const worker = await startApi('sqlite', { settings: { ROLES: 'worker' } });
    const paths = ['/healthz', '/readyz', '/metrics', '/v1/pets', '/v1/openapi.json', '/docs'];
    const answers = await Promise.all(paths.map((path) => worker.send(path)));
    await worker.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 404, 404]);
  });
});
