import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CountingIds } from '../../support/settable-clock.ts';
import type { SiteFiles, SiteUnpacking, UploadProgress } from '../../../src/sites/ports.ts';
import { allOf } from '../../support/sites/sites.ts';
import { plainTree } from '../../support/sites/direct-unpacking.ts';

export interface OpenedUnpacking {
  readonly unpacking: SiteUnpacking;
  readonly files: SiteFiles;
  close(): Promise<void>;
}

const page = '<!doctype html><title>Birds</title>'.repeat(100);

export const siteUnpackingContract = (
  open: (folder: string) => OpenedUnpacking | Promise<OpenedUnpacking>,
): void => {
  const ids = new CountingIds();
  let folder: string;
  let opened: OpenedUnpacking;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-unpacking-'));
    opened = await open(join(folder, 'deploys'));
  });
  afterAll(async () => {
    await opened.close();
    await rm(folder, { recursive: true });
  });

  const ample = { plan: 'Pro', quota: 1e12, left: 1e12 };
  const unpack = (place: string, deployId: string, told: UploadProgress[] = [], room = ample) =>
    opened.unpacking.unpack({ deployId, room }, place, (progress) => told.push(progress));

  test("an upload's published files are stored and counted", async () => {
    const id = ids.next('dep');
    const place = await plainTree(join(folder, 'birds'), {
      'index.html': page,
      'img/rex.txt': 'Rex',
      '.htaccess': 'SECRET=1',
    });
    const contents = await unpack(place, id);
    expect(contents).toEqual({ files: 2, bytes: page.length + 3, leftOut: 1 });
    const stored = await opened.files.list(id);
    expect(stored?.map(({ path }) => path).toSorted()).toEqual(['img/rex.txt', 'index.html']);
    const index = stored!.find(({ path }) => path === 'index.html')!;
    expect((await allOf(opened.files.read(id, index, 'identity'))).toString()).toBe(page);
    expect(index.brotli).toBeLessThan(page.length / 10);
  });

  test('a site that was packed in a single folder is stored without that folder', async () => {
    const id = ids.next('dep');
    const place = await plainTree(join(folder, 'wrapped'), {
      'birds/index.html': page,
      'birds/img/rex.txt': 'Rex',
    });
    await unpack(place, id);
    const stored = await opened.files.list(id);
    expect(stored?.map(({ path }) => path).toSorted()).toEqual(['img/rex.txt', 'index.html']);
  });

  test('progress is reported and never goes back', async () => {
    const told: UploadProgress[] = [];
    const tree = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}.html`, page]));
    const place = await plainTree(join(folder, 'many'), { 'index.html': page, ...tree });
    await unpack(place, ids.next('dep'), told);
    const first = { step: 'unpacking', done: 1, total: 51 };
    expect(told[0]).toEqual(first);
    const done = told.filter(({ step }) => step === 'unpacking').map((one) => one.done);
    expect(done).toEqual(done.toSorted((one, other) => one - other));
  });

  test("an upload above the account's limit is refused, and one that just fits is accepted", async () => {
    const place = await plainTree(join(folder, 'roomy'), { 'index.html': page });
    const room = (left: number) => ({ plan: 'Free', quota: 1024 ** 3, left });
    await expect(unpack(place, ids.next('dep'), [], room(page.length - 1))).rejects.toMatchObject({
      name: 'DomainError',
      code: 'storage_quota_reached',
      message: expect.stringContaining('The plan Free keeps 1 GiB of files'),
    });
    const contents = await unpack(place, ids.next('dep'), [], room(page.length));
    expect(contents.bytes).toBe(page.length);
  });

  test('a refusal has the code and message of the check that failed', async () => {
    const place = await plainTree(join(folder, 'headless'), { 'about.html': page });
    await expect(unpack(place, ids.next('dep'))).rejects.toMatchObject({
      name: 'DomainError',
      code: 'archive_without_index',
      message: expect.stringContaining('It has no index.html at its top.'),
    });
  });

  test('a file that is not an archive, and a missing file, are refused', async () => {
    const place = join(folder, 'notes.zip');
    await writeFile(place, 'these are my notes');
    const refused = { name: 'DomainError', code: 'archive_unsupported' };
    await expect(unpack(place, ids.next('dep'))).rejects.toMatchObject(refused);
    const missing = unpack(join(folder, 'nowhere.zip'), ids.next('dep'));
    await expect(missing).rejects.toHaveProperty('code', 'archive_unreadable');
  });

  test('several uploads are unpacked at the same time', async () => {
    const place = await plainTree(join(folder, 'twins'), { 'index.html': page });
    const twins = [ids.next('dep'), ids.next('dep'), ids.next('dep'), ids.next('dep')];
    await Promise.all(twins.map((id) => unpack(place, id)));
    for (const id of twins) expect(await opened.files.list(id)).toHaveLength(1);
  });
};
