import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { newHome, type Home } from '../support/service/service-process.ts';

interface Check {
  readonly state: string;
  readonly advice?: string;
}

describe('animal-store', () => {
  let home: Home;
  beforeAll(async () => {
    home = await newHome('sqlite');
  });
  afterAll(() => home.remove());

  /** Runs the first line in a separate process, like a user. */
  const exitCodes = async ([first = '', ...rest]: readonly string[]) => {
    const lines = [first, ...rest];
    const results = await Promise.all([
      home.execute(first.split(' ')),
      ...rest.map((line) => home.run(line.split(' '))),
    ]);
    return results.map(({ code, stdout, stderr }, at) => ({
      line: lines[at],
      code,
      stdout,
      stderr,
    }));
  };

  test('exits with 2 and says what is wrong when it is used incorrectly', async () => {
    const lines = [
      'nonsense',
      'account',
      'account create --name Zoo',
      'account list --nonsense',
      'key create --account A --name N --scopes pets:eat',
      'key create --account A --name N --expires tomorrow',
      'key create --account A --name N --expires 2099-02-30T00:00:00Z',
      'pet sell --account A --pet 9223372036854775808',
      'account usage --account A --days 91',
      'account usage --account A --days 9999999999',
    ];
    for (const result of await exitCodes(lines)) {
      expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/\S{4}/) });
    }
  });

  test('exits with 1 and one line when a command fails', async () => {
    const lines = [
      'account set-plan --account nobody --plan pro',
      'key revoke --key nothing',
      'project create --account nobody --name N',
      'pet sell --account nobody --pet 1',
    ];
    for (const result of await exitCodes(lines)) {
      expect(result).toMatchObject({ code: 1, stdout: '' });
      expect(result.stderr).toMatch(/^animal-store: .+\n$/);
    }
  });

  test('names the unreadable file and the expected format', async () => {
    const { code, stderr } = await home.run('domain config nofile.yaml --project shop'.split(' '));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'animal-store: nofile.yaml cannot be read (ENOENT); give a YAML or JSON file with the settings, or - for ' +
        'standard input.\n',
    });
  });

  test('exits with 0 and explains itself when asked for help', async () => {
    const lines = ['--help', 'key create --help', 'domain verify --help'];
    const [all, one, verify] = await exitCodes(lines);
    expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining('serve') });
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('--scopes') });
    expect(verify?.stdout).toMatch(/exit\s+code\s+0\s+even\s+if\s+there\s+are\s+problems/);
  });

  test('lists everything that is wrong with its settings at once', async () => {
    const wrong = {
      DATABASE_URL: 'postgres://localhost/x',
      PORT: '70000',
      PUBLIC_URL: 'https://api.example/v2',
      ROLES: 'api,cook',
      LOG_LEVEL: 'loud',
      NODE_ENV: 'production',
    };
    const commands = [['config', 'check'], ['serve']];
    const results = await Promise.all(commands.map((command) => home.run(command, wrong)));
    for (const { code, stdout, stderr } of results) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/have 6 faults/);
      for (const name of [...Object.keys(wrong).slice(0, 5), 'SECRET_KEY']) {
        expect(stderr).toContain(`  ${name}`);
      }
    }
  });

  test('warns of a variable that is almost the name of a setting, and names the setting', async () => {
    const nearly = { DATABSE_URL: 'sqlite:other.db' };
    const warning = 'DATABSE_URL is not a setting and has no effect. Did you mean DATABASE_URL?';
    const { code, stdout } = await home.run(['config', 'check'], nearly);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Warning: ${warning}`)]);
  });

  test('doctor names each problem and its fix, and no secret', async () => {
    const other = createServer((socket) => socket.end('not HTTP\n')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { code, stdout } = await home.run(['doctor', '--json'], {
      DATABASE_URL: 'mysql://shop:hunter2@127.0.0.1:1/shop',
      REDIS_URL: 'redis://:hunter2@127.0.0.1:1',
      DNS_SERVERS: '127.0.0.1:1',
      ACME_DIRECTORY_URL: 'https://127.0.0.1:1/directory',
      DATA_DIR: '/dev/null/var',
      PORT: String((other.address() as AddressInfo).port),
      ROLES: 'api',
    });
    other.close();
    expect(code).toBe(1);
    expect(stdout).not.toContain('hunter2');
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly Check[] };
    expect(ok).toBe(false);
    const failures = checks.filter(({ state }) => state === 'failed');
    const settings = ['DATABASE_URL', 'REDIS_URL', 'DNS_SERVERS', 'PLATFORM_ADDRESSES'];
    settings.push('ACME_DIRECTORY_URL', 'PORT', 'DATA_DIR');
    for (const [at, setting] of settings.entries()) expect(failures[at]?.advice).toContain(setting);
    expect(failures).toHaveLength(settings.length);
  });

  test('ends with the reason when a folder cannot be created', async () => {
    const inProc = { DATA_DIR: '/proc/x/y', DATABASE_URL: 'sqlite:/proc/x/store.db' };
    const own = { DATA_DIR: inProc.DATA_DIR };
    const database = { DATABASE_URL: inProc.DATABASE_URL };
    const commands = [
      ['account', 'list'],
      ['migrate', 'status'],
    ];
    for (const command of commands) {
      expect(await home.run(command, own)).toMatchObject({
        code: 1,
        stderr:
          'animal-store: /proc/x/y cannot be used (ENOENT). Set DATA_DIR to a folder that this user can write to.\n',
      });
      expect(await home.run(command, database)).toMatchObject({
        code: 1,
        stderr:
          'animal-store: The database sqlite:/proc/x/store.db cannot be used (ENOENT). ' +
          'Set DATABASE_URL to a file in a folder that this user can write to.\n',
      });
    }
  });

  test('ends with a message that names the address when the database cannot be reached', async () => {
    const away = { DATABASE_URL: 'mysql://shop:hunter2@127.0.0.1:1/shop' };
    const commands = [['serve'], ['account', 'list'], ['migrate', 'status']];
    const results = await Promise.all(commands.map((command) => home.run(command, away)));
    for (const { code, stderr } of results) {
      expect(code).toBe(1);
      expect(stderr).toBe(
        'animal-store: The database mysql://127.0.0.1:1/shop cannot be reached (ECONNREFUSED). ' +
          'Start its server, or correct DATABASE_URL.\n',
      );
    }
  });
});
