import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { subscribersOf } from '../../src/app/subscriptions.ts';
import { type DashboardVisitor, signInFirst } from '../support/dashboard/visitor.ts';
import type { DatabaseKind } from '../support/servers/databases.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { findFreePort } from '../support/servers/debian-server.ts';
import { complaintsOf } from '../support/service/service-log.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

const deploysPath = '/dashboard/projects/birds/deploys';

let home: Home;
let facts: StoredFacts;
const useHome = (kind: DatabaseKind) => {
  beforeEach(async () => {
    home = await newHome(await migratedDatabase(kind));
    facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
  });
  afterEach(async () => {
    await facts.close();
    await home.remove();
  });
};

/** Uploads files that are no archives: each deploy fails, and a subscriber removes what it left in the storage. */
const failDeploys = async (visitor: DashboardVisitor, count: number): Promise<void> => {
  const headers = { 'Sec-Fetch-Site': 'same-origin' };
  for (let n = 0; n < count; n++) {
    const body = new FormData();
    body.set('archive', new Blob(['no archive']), 'site.zip');
    const { status } = await visitor.send(deploysPath, { method: 'POST', body, headers });
    expect(status).toBe(303);
  }
};

const openProject = async (service: Service): Promise<DashboardVisitor> => {
  const visitor = await signInFirst(service);
  const fields = { name: 'Birds', once: 'form_0000001' };
  expect((await visitor.post('/dashboard', fields)).location).toContain('birds');
  return visitor;
};

type State = 'waiting' | 'parked';

/** The metric is left out of an answer for which the database was late. */
const untilCounted = async (
  { origin }: Service,
  state: State,
  deliveries: number,
): Promise<void> => {
  await until(`${deliveries} deliveries are ${state}`, async () => {
    const text = await (await fetch(`${origin}/metrics`)).text();
    return text.split('\n').includes(`outbox_deliveries{state="${state}"} ${deliveries}`);
  });
};

interface Parked {
  readonly id: string;
  readonly problem: string;
}

const parkedIn = async (words: readonly string[]): Promise<readonly Parked[]> => {
  const { stdout } = await home.run(['event', ...words, '--json']);
  return JSON.parse(stdout) as readonly Parked[];
};

/** What failed before is due at once. */
const untilAllDelivered = () =>
  until('all is delivered', async () => {
    await facts.endWaits();
    return (await facts.undelivered()).waiting === 0;
  });

/** Leaves something in the storage for each failed deploy. */
const litter = async (): Promise<void> => {
  for (const { deployId = '' } of await facts.told('deploy_failed')) {
    await mkdir(join(deploysFolder(), deployId), { recursive: true });
  }
};
const deploysFolder = () => join(home.settings['DATA_DIR'] ?? '', 'deploys');
const leftovers = () => readdir(deploysFolder());

/** While a file stands where the storage is, the subscriber that removes deploys fails. */
const hideStorage = async (): Promise<void> => {
  await rename(deploysFolder(), `${deploysFolder()}-hidden`);
  await writeFile(deploysFolder(), '');
};
const showStorage = async (): Promise<void> => {
  await rm(deploysFolder());
  await rename(`${deploysFolder()}-hidden`, deploysFolder());
};

describe('events on MariaDB', () => {
  useHome('mysql');

  test('survive the process that stored them, and reach their subscriber through several new workers', async () => {
    const dashboard = await home.start({ ROLES: 'dashboard' });
    await failDeploys(await openProject(dashboard), 20);
    // The first ten are also discarded, since only so many are kept.
    const each = subscribersOf('deploy_failed').length;
    await untilCounted(dashboard, 'waiting', 20 * each + 10);
    await dashboard.end('SIGKILL');
    await litter();
    expect(await leftovers()).toHaveLength(20);

    const ports = [await findFreePort(), await findFreePort()];
    const workers = await Promise.all(
      ports.map((port) => home.start({ ROLES: 'worker', PORT: String(port) })),
    );
    await untilAllDelivered();
    expect(await leftovers()).toEqual([]);
    for (const worker of workers) {
      expect((await fetch(`${worker.origin}/v1/pets`)).status).toBe(404);
      expect(await worker.end('SIGTERM')).toEqual({ code: 0, signal: null });
      expect(complaintsOf(worker)).toEqual([]);
    }
  });
});

describe('events', () => {
  useHome('sqlite');

  test('whose subscriber fails are retried, delay no request, and arrive when it works again', async () => {
    const dashboard = await home.start({ ROLES: 'dashboard' });
    const visitor = await openProject(dashboard);
    await failDeploys(visitor, 5);
    await litter();
    await hideStorage();
    const worker = await home.start({ ROLES: 'worker', PORT: String(await findFreePort()) });
    await until('each was tried', async () => (await facts.failing()) === 5);
    await untilCounted(worker, 'waiting', 5);
    expect((await visitor.get('/dashboard')).status).toBe(200);
    await showStorage();
    await failDeploys(visitor, 1);
    await untilAllDelivered();
    expect(await leftovers()).toEqual([]);
    await dashboard.end('SIGTERM');
    await worker.end('SIGTERM');
    expect(worker.stdout()).toContain('event not delivered, will be retried');
  });

  test('whose subscriber fails for the tenth time are parked, counted and reported, and stay until an operator retries them', async () => {
    const dashboard = await home.start({ ROLES: 'dashboard' });
    await failDeploys(await openProject(dashboard), 3);
    await dashboard.end('SIGTERM');
    await litter();
    await hideStorage();
    await facts.setAttempts(9n);
    const worker = await home.start({ ROLES: 'worker' });
    await untilCounted(worker, 'parked', 3);
    await untilCounted(worker, 'waiting', 0);
    expect(await facts.undelivered()).toEqual({ waiting: 0, parked: 3 });

    const listed = await parkedIn(['list', '--parked']);
    expect(listed).toHaveLength(3);
    const [first] = listed;
    expect(first).toMatchObject({ subscriber: 'storage', attempts: 10, type: 'deploy_failed' });
    expect(first?.problem).toBe('The storage cannot be reached');
    expect(await parkedIn(['list', '--parked', '--after', first?.id ?? ''])).toEqual(
      listed.slice(1),
    );
    const secret = { SOME_TOKEN: 'cannot be reached' };
    const shown = await home.run(['event', 'list', '--parked'], secret);
    expect(shown.stdout).toMatch(
      /^ID .* AGE\n(\d+ +storage +10 +The storage … +acct_\w+ .*\n){3}$/,
    );
    expect(shown.stdout).not.toContain(secret.SOME_TOKEN);

    await showStorage();
    expect(await leftovers()).toHaveLength(3);
    const retryFirst = ['event', 'retry', first?.id ?? ''];
    expect(await home.run(retryFirst)).toMatchObject({ code: 0 });
    await untilCounted(worker, 'parked', 2);
    await untilCounted(worker, 'waiting', 0);
    expect(await leftovers()).toHaveLength(2);
    const again = await home.run(retryFirst);
    expect(again).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('no delivery'),
    });
    expect(await parkedIn(['retry', '--all'])).toEqual({ released: 2 });
    await untilCounted(worker, 'parked', 0);
    await untilAllDelivered();
    expect(await leftovers()).toEqual([]);
    expect(await home.run(['event', 'retry', '--all'])).toMatchObject({
      stdout: 'Nothing is parked.\n',
    });
    expect(await home.run(['event', 'list', '--parked'])).toMatchObject({
      stdout: 'Nothing is parked.\n',
    });
    await worker.end('SIGTERM');
    expect(worker.stdout()).toContain('event parked: its subscriber keeps failing');
  });
});
