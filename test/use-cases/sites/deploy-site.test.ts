import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { DirectUnpacking } from '../../support/sites/direct-unpacking.ts';
import { DomainError } from '../../../src/kernel/decision.ts';
import { Unavailable } from '../../../src/kernel/ports.ts';
import { siteLimits } from '../../../src/sites/domain/site-contents.ts';
import { deleteDeploy, giveUpUploads, type Site } from '../../../src/sites/domain/site.ts';
import type {
  Allowances,
  Projects,
  SiteDraft,
  SiteSource,
  UploadProgress,
} from '../../../src/sites/ports.ts';
import { deleteProject, restoreProject } from '../../../src/sites/domain/project-life.ts';
import { deploySite, giveUpCutOffUploads } from '../../../src/sites/use-cases/deploy-site.ts';
import { later, now } from '../../support/accounts.ts';
import { siteLab, type SiteLab } from '../../support/sites/site-lab.ts';
import {
  begun,
  byOperator,
  allOf,
  brokenOff,
  entry,
  inPieces,
  sourceOf,
  newProject,
} from '../../support/sites/sites.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';

const open = storesOfTests();
let folder: string;
let files: FileSystemSiteFiles;
let site: SiteLab;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-deploys-'));
  files = new FileSystemSiteFiles(folder);
  site = await siteLab(await open(), files);
});
afterEach(() => rm(folder, { recursive: true }));

const good = (): SiteSource => sourceOf(entry('index.html'), entry('img/rex.jpg'));

/** An entry that counts the reads of its content. */
const watched = (path: string) => {
  let reads = 0;
  const content = { [Symbol.asyncIterator]: () => ((reads += 1), inPieces('content')) };
  return { entry: entry(path, content), reads: () => reads };
};

describe('a good upload', () => {
  test('is served with all its files and recorded', async () => {
    const deploy = await site.deploy(good());
    const ended = { state: 'succeeded', finishedAt: now, files: 2, bytes: 18 + 19 };
    expect(deploy).toEqual({ ...begun('dep_000001'), number: 1, startedAt: now, ...ended });
    expect(await site.site()).toMatchObject({ deploys: [deploy], servedDeployId: deploy.id });
    const stored = (await files.list(deploy.id)) ?? [];
    expect(stored.map(({ path }) => path).toSorted()).toEqual(['img/rex.jpg', 'index.html']);
    const picture = stored.find(({ path }) => path === 'img/rex.jpg')!;
    const content = await allOf(files.read(deploy.id, picture, 'identity'));
    expect(content.toString()).toBe('this is img/rex.jpg');
    expect(await site.events()).toMatchObject([{ type: 'deploy_succeeded', number: 1 }]);
  });

  test('reports progress for every entry and file', async () => {
    const told: UploadProgress[] = [];
    const source = sourceOf(entry('index.html'), entry('img/', '', 'folder'), entry('.hidden'));
    await site.deploy(source, (progress) => told.push(progress));
    expect(told).toEqual([
      { step: 'unpacking', done: 1, total: 3 },
      { step: 'unpacking', done: 2, total: 3 },
      { step: 'unpacking', done: 3, total: 3 },
      { step: 'preparing', done: 1, total: 1 },
    ]);
  });

  test('may have an unknown number of entries', async () => {
    const told: UploadProgress[] = [];
    const source = { ...good(), total: undefined };
    await site.deploy(source, (progress) => told.push(progress));
    expect(told[0]).toEqual({ step: 'unpacking', done: 1, total: undefined });
    expect(told.at(-1)).toEqual({ step: 'preparing', done: 2, total: 2 });
  });

  test('is not read if its content is ignored', async () => {
    const [hidden, page] = [watched('.cache/config'), watched('index.html')];
    await site.deploy(sourceOf(hidden.entry, page.entry));
    expect([hidden.reads(), page.reads()]).toEqual([0, 1]);
  });

  test('replaces the previous one, whose files stay', async () => {
    const first = await site.deploy(good());
    const second = await site.deploy(good());
    expect(await site.site()).toMatchObject({ servedDeployId: second.id });
    expect(await files.list(first.id)).toHaveLength(2);
  });
});

describe('a refused upload', () => {
  const chunk = new Uint8Array(1024 * 1024);
  async function* endless() {
    for (;;) yield await Promise.resolve(chunk);
  }

  test.each([
    ['archive_link', () => sourceOf(entry('index.html'), entry('a', 'b', 'link'))],
    ['archive_unsafe_path', () => sourceOf(entry('index.html'), entry('../a'))],
    ['archive_without_index', () => sourceOf(entry('about.html'))],
    ['archive_too_large', () => sourceOf(entry('index.html', endless()))],
    [
      'archive_unreadable',
      () =>
        sourceOf(
          entry('index.html', brokenOff(new DomainError('archive_unreadable', 'It is damaged.'))),
        ),
    ],
  ] as const)('is stored with its reason (%s), and leaves no files', async (problem, source) => {
    const before = await site.deploy(good());
    site.clock.advance(1000);
    const deploy = await site.deploy(source());
    const ended = { state: 'failed', finishedAt: later(1000), problem };
    expect(deploy).toMatchObject({ number: 2, ...ended });
    expect(deploy).toHaveProperty('explanation', expect.stringMatching(/\.$/));
    expect(await site.site()).toEqual({
      project: site.project,
      deploys: [deploy, before],
      servedDeployId: before.id,
      servedSince: now,
      lastNumber: 2,
    });
    expect(await files.list(deploy.id)).toBeUndefined();
    const told = { type: 'deploy_failed', deployId: deploy.id, problem };
    expect((await site.events()).slice(1)).toMatchObject([told]);
  });

  test('is not read past the first problem', async () => {
    const behind = watched('behind.html');
    await site.deploy(sourceOf(entry('../a'), behind.entry));
    expect(behind.reads()).toBe(0);
    let bytes = 0;
    async function* counted() {
      for await (const piece of endless()) {
        bytes += piece.length;
        yield piece;
      }
    }
    await site.deploy(sourceOf(entry('index.html', counted())));
    expect(bytes).toBe(siteLimits.bytes + chunk.length);
  });

  test('can be an upload that does not fit into the storage', async () => {
    const full = new DomainError('storage_full', 'There is no room left.');
    files.begin = () =>
      Promise.resolve({ write: () => Promise.resolve(), commit: () => Promise.reject(full) });
    const deploy = await site.deploy(good());
    expect(deploy).toMatchObject({ state: 'failed', problem: 'storage_full' });
    expect(deploy).toHaveProperty('explanation', 'There is no room left.');
  });
});

describe('an account with a quota of files', () => {
  const quota = 1000;
  const page = (bytes: number) => sourceOf(entry('index.html', 'x'.repeat(bytes)));
  const refused = { state: 'failed', problem: 'storage_quota_reached' };
  beforeEach(async () => {
    site = await siteLab(await open(), files, quota);
  });

  test('can store exactly that much, and a refused upload leaves nothing', async () => {
    await site.deploy(page(400));
    const kept = await site.deploy(page(600));
    expect(kept.state).toBe('succeeded');
    const deploy = await site.deploy(page(1));
    expect(deploy).toMatchObject(refused);
    expect(deploy).toHaveProperty(
      'explanation',
      'The plan Free keeps 1000 B of files for all projects together, and nothing is left. ' +
        'Delete deploys that you no longer need, or ask the operator for a larger plan.',
    );
    expect(await files.list(deploy.id)).toBeUndefined();
    expect(await site.projects.keptBytes(site.project.accountId)).toBe(quota);
    expect(await site.site()).toMatchObject({ servedDeployId: kept.id });
  });

  test('is read only as far as there is room', async () => {
    await site.deploy(page(400));
    let pieces = 0;
    async function* endless() {
      for (;;) {
        pieces += 1;
        yield await Promise.resolve(new Uint8Array(100));
      }
    }
    const deploy = await site.deploy(sourceOf(entry('index.html', endless())));
    expect(deploy).toMatchObject(refused);
    expect(deploy).toHaveProperty('explanation', expect.stringContaining('600 B are left'));
    expect(pieces).toBe(7);
    expect(await files.list(deploy.id)).toBeUndefined();
  });

  test('reads nothing of an upload if it is full', async () => {
    await site.deploy(page(quota));
    const next = watched('index.html');
    expect(await site.deploy(sourceOf(next.entry))).toMatchObject(refused);
    expect(next.reads()).toBe(0);
  });

  test('never stores more, however many uploads run at once in however many projects', async () => {
    const second = await newProject(site.stores, site.project.accountId);
    const uploads = Array.from({ length: 20 }, (_, n) =>
      site.deploy(page(300), undefined, { project: n % 2 ? second : site.project }),
    );
    const states = (await Promise.all(uploads)).map(({ state }) => state);
    expect(states.filter((state) => state === 'succeeded')).toHaveLength(3);
    expect(await site.projects.keptBytes(site.project.accountId)).toBe(900);
  });

  test('gets room when deploys are deleted or discarded', async () => {
    for (let n = 0; n < 10; n++) await site.deploy(page(100));
    expect(await site.deploy(page(100))).toMatchObject({ state: 'succeeded' });
    expect(await site.deploy(page(200))).toMatchObject(refused);
    const { deploys } = await site.site();
    const { number } = deploys.findLast(({ state }) => state === 'succeeded')!;
    await site.projects.change(site.project, (one) => deleteDeploy(one, number, now));
    expect(await site.deploy(page(100))).toMatchObject({ state: 'succeeded' });
  });
});

describe('a failure of the service', () => {
  const trouble = new Unavailable('The storage', new Error('EIO'));
  const interrupted = { state: 'failed', problem: 'upload_interrupted' };

  const troubled: readonly (readonly [string, () => SiteSource])[] = [
    ['begins', () => ((files.begin = () => Promise.reject(trouble)), good())],
    ['is read', () => sourceOf(entry('index.html', brokenOff(trouble)))],
    [
      'is committed',
      () => {
        const begin = files.begin.bind(files);
        files.begin = async (id): Promise<SiteDraft> => {
          const draft = await begin(id);
          draft.commit = () => Promise.reject(trouble);
          return draft;
        };
        return good();
      },
    ],
  ];
  test.each(troubled)(
    'is passed on unchanged when a deploy %s, and leaves nothing',
    async (_, source) => {
      await expect(site.deploy(source())).rejects.toBe(trouble);
      const { deploys, servedDeployId } = await site.site();
      expect(deploys).toMatchObject([interrupted]);
      expect(deploys[0]).toHaveProperty('explanation', expect.not.stringContaining('EIO'));
      expect(servedDeployId).toBeUndefined();
      expect(await files.list('dep_000001')).toBeUndefined();
    },
  );

  test('while removing the files does not hide the original error', async () => {
    async function* content() {
      files.remove = () => Promise.reject(trouble);
      yield* inPieces('about');
    }
    const deploy = await site.deploy(sourceOf(entry('about.html', content())));
    expect(deploy).toMatchObject({ state: 'failed', problem: 'archive_without_index' });
  });

  test('without a known code is not shown to the owner', async () => {
    const strange = Object.assign(new Error('at /var/secret'), { code: 'archive_link' });
    await expect(site.deploy(sourceOf(entry('a', brokenOff(strange))))).rejects.toBe(strange);
    expect(JSON.stringify(await site.site())).not.toContain('secret');
  });
});

/** The projects of the site, which lose the answers of the given change and all later ones. */
const forgetful = (first: number, isStored: boolean): { readonly projects: Projects } => {
  let changes = 0;
  const forgetting = async (change: () => Promise<Site>): Promise<Site> => {
    changes += 1;
    if (changes !== first) return change();
    if (isStored) await change();
    throw new Unavailable('The database', new Error('connection lost'));
  };
  const { projects } = site;
  const lossy = Object.assign(Object.create(projects) as Projects, {
    change: (...args: Parameters<Projects['change']>) => forgetting(() => projects.change(...args)),
    changeKept: (...args: Parameters<Projects['changeKept']>) =>
      forgetting(() => projects.changeKept(...args)),
    keptBytes: (accountId: string) => projects.keptBytes(accountId),
  });
  return { projects: lossy };
};

describe('when the database is unavailable', () => {
  test('a deploy does not begin, and the upload is not touched', async () => {
    const page = watched('index.html');
    const deploying = site.deploy(sourceOf(page.entry), undefined, forgetful(1, false));
    await expect(deploying).rejects.toThrow('The database cannot be reached');
    expect(page.reads()).toBe(0);
    expect((await site.site()).deploys).toEqual([]);
  });

  test('a success that could not be recorded counts as a failure, and leaves nothing', async () => {
    const deploying = site.deploy(good(), undefined, forgetful(2, false));
    await expect(deploying).rejects.toThrow('The database cannot be reached');
    const { deploys, servedDeployId } = await site.site();
    expect(deploys).toMatchObject([{ state: 'failed', problem: 'upload_interrupted' }]);
    expect(servedDeployId).toBeUndefined();
    expect(await files.list('dep_000001')).toBeUndefined();
  });

  test('a recorded success remains one even when its answer is lost', async () => {
    const deploy = await site.deploy(good(), undefined, forgetful(2, true));
    expect(deploy).toMatchObject({ id: 'dep_000001', state: 'succeeded' });
    expect((await site.site()).servedDeployId).toBe('dep_000001');
    expect(await files.list('dep_000001')).toHaveLength(2);
  });

  test('a deploy whose failure could not be recorded is abandoned later', async () => {
    const refused = sourceOf(entry('about.html'));
    const deploying = site.deploy(refused, undefined, forgetful(2, false));
    await expect(deploying).rejects.toThrow('The database cannot be reached');
    expect((await site.site()).deploys).toMatchObject([{ state: 'uploading' }]);
    expect(await files.list('dep_000001')).toBeUndefined();
    const clock = { now: () => later(2 * 60 * 60 * 1000) };
    const giveUp = giveUpCutOffUploads({ projects: site.projects, clock });
    expect(await giveUp(() => true)).toBe(0);
    expect(await giveUp()).toBe(1);
    expect((await site.site()).deploys).toMatchObject([{ state: 'failed' }]);
  });
});

test('a deploy that was abandoned meanwhile fails, and leaves nothing', async () => {
  async function* slow() {
    yield* inPieces('<!doctype html>');
    const muchLater = later(2 * 60 * 60 * 1000);
    await site.projects.change(site.project, (current) => giveUpUploads(current, muchLater));
  }
  const deploying = site.deploy(sourceOf(entry('index.html', slow())));
  await expect(deploying).rejects.toHaveProperty('code', 'deploy_wrong_state');
  const { deploys, servedDeployId } = await site.site();
  expect(deploys).toMatchObject([{ state: 'failed', problem: 'upload_interrupted' }]);
  expect(servedDeployId).toBeUndefined();
  expect(await files.list('dep_000001')).toBeUndefined();
});

test.each([
  ['stays deleted', 'project_not_found', () => Promise.resolve()],
  ['is restored', 'deploy_not_found', () => site.projects.restore(site.project, restored)],
] as const)(
  'a deploy to a project that is deleted meanwhile, and %s, says so',
  async (_, code, then) => {
    async function* slow() {
      yield* inPieces('<!doctype html>');
      await site.projects.change(site.project, (one) => deleteProject(one, now));
      await then();
      throw new Unavailable('the storage', undefined);
    }
    const deploying = site.deploy(sourceOf(entry('index.html', slow())));
    await expect(deploying).rejects.toHaveProperty('code', code);
    expect(await files.list('dep_000001')).toBeUndefined();
  },
);

const restored = (one: Site) => restoreProject(one, now);

test('a deploy that twelve later ones overtook is reported as a success, but not served', async () => {
  async function* slow() {
    yield* inPieces('<!doctype html>');
    for (let n = 0; n < 12; n++) await site.deploy(good());
  }
  const deploy = await site.deploy(sourceOf(entry('index.html', slow())));
  expect(deploy).toMatchObject({ number: 1, state: 'succeeded' });
  expect((await site.site()).servedDeployId).toBe('dep_000013');
});

test('nothing is deployed to a project that is missing or belongs to another account', async () => {
  const { projects, clock, project } = site;
  const ids = { next: () => 'dep_1' };
  const unpacking = new DirectUnpacking(files, (source: SiteSource) => Promise.resolve(source));
  const allowances = mustNotBeUsed<Allowances>('allowances');
  const deploy = deploySite({ projects, files, unpacking, allowances, clock, ids });
  const source = { total: 0, entries: mustNotBeUsed<SiteSource['entries']>('entries') };
  for (const key of [
    { accountId: project.accountId, slug: 'nobody' },
    { accountId: 'acct_nobody', slug: project.slug },
  ]) {
    await expect(deploy(key, { upload: source, ...byOperator })).rejects.toHaveProperty(
      'code',
      'project_not_found',
    );
  }
  expect((await site.site()).deploys).toEqual([]);
});
