import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type DashboardVisitor, signInFirst } from '../support/dashboard/visitor.ts';
import { migratedDatabase } from '../support/servers/migrated-database.ts';
import { newHome, type Home, type Service } from '../support/service/service-process.ts';
import { StoredFacts } from '../support/service/stored-facts.ts';
import { until } from '../support/until.ts';

const deploysPath = '/dashboard/projects/birds/deploys';

let home: Home;
let facts: StoredFacts;
beforeAll(async () => {
  home = await newHome(await migratedDatabase('sqlite'));
  facts = new StoredFacts(home.settings['DATABASE_URL'] ?? '');
});
afterAll(async () => {
  await facts.close();
  await home.remove();
});

/**
 * Uploads files that are not archives: each deploy fails, and a subscriber removes its files from the
 * storage.
 */
const failDeploys = async (visitor: DashboardVisitor, count: number): Promise<void> => {
  const headers = { 'Sec-Fetch-Site': 'same-origin' };
  for (let n = 0; n < count; n++) {
    const body = new FormData();
    body.set('once', `form_000000${n + 2}`);
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

/** The metric is missing from an answer if the database was late. */
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

const untilAllDelivered = () =>
  until('all is delivered', async () => {
    await facts.endWaits();
    return (await facts.undelivered()).waiting === 0;
  });

const litter = async (): Promise<void> => {
  for (const { deployId = '' } of await facts.told('deploy_failed')) {
    await mkdir(join(deploysFolder(), deployId), { recursive: true });
  }
};
const deploysFolder = () => join(home.settings['DATA_DIR'] ?? '', 'deploys');
const leftovers = () => readdir(deploysFolder());

/** While a file is in place of the storage folder, the subscriber that removes deploys fails. */
const hideStorage = async (): Promise<void> => {
  await rename(deploysFolder(), `${deploysFolder()}-hidden`);
  await writeFile(deploysFolder(), '');
};
const showStorage = async (): Promise<void> => {
  await rm(deploysFolder());
  await rename(`${deploysFolder()}-hidden`, deploysFolder());
};

test('events whose subscriber fails for the tenth time are parked, counted and reported, until an operator retries them', async () => {
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
  expect(await parkedIn(['list', '--parked', '--after', first?.id ?? ''])).toEqual(listed.slice(1));
  const secret = { SOME_TOKEN: 'cannot be reached' };
  const shown = await home.run(['event', 'list', '--parked'], secret);
  expect(shown.stdout).toMatch(/^ID .* AGE\n(\d+ +storage +10 +The storage … +acct_\w+ .*\n){3}$/);
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
    stderr: expect.stringContaining('no parked delivery'),
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
