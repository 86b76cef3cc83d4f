import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  check,
  host,
  newMachine,
  told,
  visited,
  type Machine,
} from '../support/backup/store-home.ts';
import { databaseKinds } from '../support/servers/databases.ts';
import { startGuard } from '../support/servers/debian-server.ts';
import { databaseOfDocumentedUser } from '../support/servers/documented-settings.ts';
import { startMariaDb, type MariaDb } from '../support/servers/mariadb.ts';
import { mysqlPrograms } from '../support/servers/mysql-programs.ts';
import { PersistentWriter } from '../support/service/persistent-writer.ts';
import {
  liftLimits,
  printedAccount,
  printedKey,
  type Service,
  type Settings,
} from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { plainTree } from '../support/sites/direct-unpacking.ts';
import { until } from '../support/until.ts';
const clients = 32;
/** A name that a dump must escape. */
const hardest = String.raw`it's ),('\\',`;

/** Publishes one site after the other, each with different pages. */
class Publisher {
  readonly #machine: Machine;
  readonly #folder: string;
  published = 0;

  constructor(machine: Machine, folder: string) {
    this.#machine = machine;
    this.#folder = folder;
  }

  async publish(): Promise<void> {
    const number = this.published + 1;
    const text = `site ${String(number)}, `.repeat(100);
    const files = {
      'index.html': `page ${String(number)}`,
      'a/text.txt': text,
      'same.txt': 'same',
    };
    const place = await plainTree(join(this.#folder, `site-${String(number)}`), files);
    const args = ['deploy', place, '--project', 'birds'];
    const { code, stderr } = await this.#machine.home.run(args, this.#machine.settings, 1);
    if (code !== 0) throw new Error(stderr);
    this.published = number;
  }

  async until(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.publish();
  }
}

let second: Promise<MariaDb> | undefined;
const secondServer = (): Promise<MariaDb> => (second ??= startMariaDb());

let folder: string;
let guard: ReturnType<typeof startGuard>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-backups-'));
  guard = startGuard(folder);
});
afterAll(async () => {
  guard.end();
  await (await second)?.stop();
});

describe.each(databaseKinds)('a backup of a service on %s', (kind) => {
  let machine: Machine;
  let service: Service;
  let key: string;
  let publisher: Publisher;
  const backups = () => join(folder, `backup of ${kind}`);
  beforeAll(async () => {
    const tools = kind === 'mysql' ? await mysqlPrograms() : {};
    const url = process.env['TEST_MYSQL_URL'] ?? '';
    machine = await newMachine(
      kind === 'mysql' ? await databaseOfDocumentedUser(url) : kind,
      tools,
    );
    service = await machine.home.start(machine.settings);
    key = printedKey(service);
    await liftLimits(machine.home, service);
    const project = ['project', 'create', '--account', printedAccount(service), '--name', 'Birds'];
    expect(await machine.home.run(project, machine.settings)).toMatchObject({ code: 0 });
    publisher = new Publisher(machine, join(folder, `sites of ${kind}`));
    await publisher.publish();
    await until('the site is served', () =>
      visited(machine).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });
  afterAll(async () => {
    await machine.home.remove();
  });

  test(`made during writes of ${clients} clients and running deploys restores the service on a new machine`, async () => {
    let isOver = false;
    const stopped = () => isOver;
    const writers = Array.from(
      { length: clients },
      (_, at) => new PersistentWriter(`${hardest}${at}`, key),
    );
    const writing = writers.map((one) => one.write(service.origin, stopped));
    const publishing = publisher.until(stopped);
    await until(
      'deploys and writes run',
      () => publisher.published > 1 && writers.every((one) => one.acknowledged.length > 2),
    );
    const before = writers.flatMap((one) => one.acknowledged);

    const first = await machine.home.execute(['backup', backups()], machine.settings);
    const { fingerprint256 } = await visited(machine);
    const second = await machine.home.execute(['backup', backups(), '--json'], machine.settings);
    isOver = true;
    await Promise.all([...writing, publishing]);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(second).toMatchObject({ code: 0, stderr: '' });
    const storage =
      kind === 'mysql' ? await databaseOfDocumentedUser((await secondServer()).url) : kind;
    const into = typeof storage === 'string' ? [] : ['--into', storage.url];
    const checked = await check(machine, backups(), into);
    expect(checked).toMatchObject({ code: 0, printed: { ok: true } });
    const states = checked.printed.checks.map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['ok']));
    await service.end('SIGTERM');

    const other = await newMachine(storage, machine.settings);
    const restored = await other.home.execute(['restore', backups()], other.settings);
    expect(restored).toMatchObject({ code: 0, stderr: '' });
    const deploys = await readdir(join(other.home.settings['DATA_DIR'] ?? '', 'deploys'));
    const facts = new StoredFacts(other.home.settings['DATABASE_URL'] ?? '');
    expect(deploys.sort()).toEqual([...(await facts.succeededDeploys())].sort());
    const names = new Set((await facts.pets()).map(({ name }) => name));
    expect(before.filter(({ name }) => !names.has(name))).toEqual([]);
    const original = new StoredFacts(machine.home.settings['DATABASE_URL'] ?? '');
    const ownNames = await original.ownNames();
    await original.close();
    expect(ownNames).toMatchObject([{ host }]);
    expect(await facts.ownNames()).toEqual(ownNames);
    await facts.close();

    const next = await other.home.start(other.settings);
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${next.origin}/v1/pets`, { headers })).status).toBe(200);
    const there = await visited(other);
    expect(there).toMatchObject({ status: 200, fingerprint256 });
    expect(there.body).toMatch(/^page \d+$/);
    expect(await other.home.run(['restore', backups()], other.settings)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is in use or not empty'),
    });
    await other.home.remove();
  });
});

describe('a backup of MySQL', () => {
  const password = String.raw`p#"w'\ ;$x`;
  let machine: Machine;
  let tools: Settings;
  let server: MariaDb;
  const backups = () => join(folder, 'backup by password');
  beforeAll(async () => {
    tools = await mysqlPrograms();
    server = await secondServer();
    machine = await newMachine(await databaseOfDocumentedUser(server.url, password), tools);
    const account = [
      'account',
      'create',
      '--name',
      hardest,
      '--email',
      'a@b.example',
      '--plan',
      'pro',
    ];
    expect(await told(machine, account)).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await machine.home.remove();
  });

  test('needs the client programs of the server, and never shows other users the password', async () => {
    const missing = await told(machine, ['backup', backups()], { PATH: folder });
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('mariadb-dump or mysqldump is not installed'),
    });
    const bin = join(folder, 'bin');
    const real = join((tools['PATH'] ?? '').split(':')[0] ?? '', 'mariadb-dump');
    await mkdir(bin);
    await writeFile(
      join(bin, 'mariadb-dump'),
      `#!/bin/sh\necho "$@" >> ${bin}/said\nexec ${real} "$@"\n`,
      { mode: 0o700 },
    );
    const made = await told(machine, ['backup', backups()], {
      PATH: `${bin}:${tools['PATH'] ?? ''}`,
    });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const said = await readFile(join(bin, 'said'), 'utf8');
    expect(said).toContain('--single-transaction');
    expect(said).not.toContain('p#');
  });
});
