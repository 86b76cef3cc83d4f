import { expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, Server } from 'node:net';
import { checkDatabase, judgeClocks } from '../../src/app/doctor/check-database.ts';
import { checkDns } from '../../src/app/doctor/check-dns.ts';
import { checkPorts } from '../../src/app/doctor/check-ports.ts';
import { loadConfig } from '../../src/app/settings/config.ts';
import { databaseKinds, openDatabase } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';

test.each(databaseKinds)(
  'a newer schema on %s is a failure that names the schema',
  async (kind) => {
    const { url } = await migratedDatabase(kind);
    const config = loadConfig({ DATABASE_URL: url });
    expect(await checkDatabase(config)).toMatchObject([{ state: 'ok' }]);
    const database = openDatabase(url);
    await database.root
      .insertInto('kysely_migration' as never)
      .values({ name: '9999-newer', timestamp: '2026-01-01T00:00:00.000Z' })
      .execute();
    await database.close();
    expect(await checkDatabase(config)).toEqual([
      {
        state: 'failed',
        seen: expect.stringMatching(/newer release .* does not know 9999-newer\.$/),
        advice: 'Install that release, or restore a backup from before the upgrade.',
      },
    ]);
  },
);

test('a platform host that is not in DNS is accepted in development only', async () => {
  const stateOfZone = async (settings: Readonly<Record<string, string>>) => {
    const config = loadConfig({ DNS_SERVERS: '127.0.0.1:1', ...settings });
    const [, zone] = await checkDns(config)(new AbortController().signal);
    return zone?.state;
  };
  expect(await stateOfZone({})).toBe('ok');
  const SECRET_KEY = '8c1e5b0f72d94a36c0d7e1f9b3a68245';
  expect(await stateOfZone({ NODE_ENV: 'production', SECRET_KEY })).toBe('failed');
});

test.each([
  [0, 'ok'],
  [3, 'ok'],
  [-3, 'ok'],
  [5, 'warning'],
  [-5, 'warning'],
  [31, 'warning'],
  [32, 'failed'],
])('a clock that is %d s ahead of the authority is %s', (seconds, state) => {
  const here = 1_795_252_980_000;
  const other = { name: 'the authority', time: here - seconds * 1000, here };
  expect(judgeClocks([undefined, other])).toEqual([expect.objectContaining({ state })]);
});

test('a clock that cannot be compared with another one is not a fault', () => {
  const silent = { name: 'the authority', time: Number.NaN, here: 0 };
  expect(judgeClocks([silent, undefined])).toEqual([expect.objectContaining({ state: 'ok' })]);
});

test('a port that only the service may listen on is correct while the service serves it', async () => {
  const edge = createServer((_, response) => response.writeHead(404).end('404 Not Found\n'));
  edge.listen(0, '127.0.0.1');
  await once(edge, 'listening');
  const { port } = edge.address() as AddressInfo;
  const listen = jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    process.nextTick(() => this.emit('error', Object.assign(new Error(), { code: 'EACCES' })));
    return this;
  });
  const config = loadConfig({ EDGE_HTTP_PORT: String(port), EDGE_HTTPS_PORT: '0' });
  const found = async () => {
    const findings = await checkPorts(config)(new AbortController().signal);
    return findings.find(({ seen }) => seen.startsWith('EDGE_HTTP_PORT'));
  };
  expect(await found()).toMatchObject({ state: 'ok' });
  edge.close();
  edge.closeAllConnections();
  await once(edge, 'close');
  expect(await found()).toMatchObject({ state: 'failed', advice: expect.stringContaining('1024') });
  listen.mockRestore();
});
