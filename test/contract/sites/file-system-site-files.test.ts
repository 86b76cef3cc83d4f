import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import type { StoredFile } from '../../../src/sites/ports.ts';
import {
  deployInProcess,
  deployOnDisk,
  killWhereStuck,
} from '../../support/sites/deploying-process.ts';
import { listingOf, openPaths } from '../../support/sites/direct-unpacking.ts';
import { allOf, brokenOff, inPieces } from '../../support/sites/sites.ts';
import { until } from '../../support/until.ts';
import { zipOf } from '../../support/sites/archive-bytes.ts';

let home: string;
let folder: string;
let files: FileSystemSiteFiles;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'animal-store-deploys-'));
  folder = join(home, 'var', 'deploys');
  files = new FileSystemSiteFiles(folder);
});
afterEach(() => rm(home, { recursive: true }));

const publish = async (
  site: Readonly<Record<string, string | Uint8Array>>,
  id = 'dep_1',
): Promise<readonly StoredFile[]> => {
  const draft = await files.begin(id);
  for (const [path, content] of Object.entries(site)) await draft.write(path, inPieces(content));
  await draft.commit(() => undefined);
  return (await files.list(id)) ?? [];
};

const archiveOf = async (name: string, pages: number): Promise<string> => {
  const entries = Array.from({ length: pages }, (_, n) => ({
    name: n === 0 ? 'index.html' : `page-${String(n)}.html`,
    content: `<p>page ${String(n)}</p>`.repeat(100),
  }));
  return upload(name, zipOf(entries));
};

const upload = async (name: string, bytes: Buffer): Promise<string> => {
  const path = join(home, name);
  await writeFile(path, bytes);
  return path;
};

const text = '<p>Rex</p>'.repeat(100);

describe('a folder of deploys', () => {
  test('can only be read by its own user, and contains no path of a site', async () => {
    const paths = ['index.html', '../../escape.txt', '/etc/escape', 'manifest.json', 'a\0\n.txt'];
    const stored = await publish(Object.fromEntries(paths.map((path) => [path, text + path])));
    expect(stored.map(({ path }) => path).sort()).toEqual([...paths].sort());
    const lines = await listingOf(home);
    const name = 'var/deploys/dep_1/([A-Za-z0-9_-]{43}(\\.br|\\.gz)?|manifest\\.json)';
    for (const line of lines) {
      expect(line).toMatch(
        new RegExp(`^(var( 40700|/deploys( 40700|/dep_1 40700))|${name} 100600 .*)$`),
      );
    }
    expect(lines).toHaveLength(3 + 4 * 3 + 1 + 1);
  });

  test.each(['', '.', '..', '../dep_1', 'a/b', 'dep_1.partial', 'dép', 'dep_1\n'])(
    'has no deploy with the id %j',
    async (id) => {
      const [file] = await publish({ 'index.html': text });
      const before = await listingOf(home);
      await expect(files.begin(id)).rejects.toThrow('no deploy has the id');
      await expect(files.list(id)).rejects.toThrow('no deploy has the id');
      await expect(allOf(files.read(id, file!, 'identity'))).rejects.toThrow(
        'no deploy has the id',
      );
      await expect(files.remove(id)).rejects.toThrow('no deploy has the id');
      expect(await listingOf(home)).toEqual(before);
    },
  );

  test('returns nothing for an invalid hash', async () => {
    const [file] = await publish({ 'index.html': text });
    const strange = { ...file!, hash: '../dep_1/manifest.json' };
    await expect(allOf(files.read('dep_1', strange, 'identity'))).rejects.toThrow('no file');
  });

  test('stores equal content once', async () => {
    await publish({ 'a.html': text, 'b.html': text, 'c/a.html': text });
    expect(await readdir(join(folder, 'dep_1'))).toHaveLength(4);
  });

  test('keeps nothing of an incomplete file, and nothing after a removal', async () => {
    const draft = await files.begin('dep_1');
    const writing = draft.write('a.txt', brokenOff(new Error('broken off')));
    await expect(writing).rejects.toThrow('broken off');
    expect(await readdir(join(folder, '.dep_1.partial'))).toEqual([]);
    await files.remove('dep_1');
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('compressed forms', () => {
  test.each(
    'html htm css js mjs json map webmanifest svg xml txt md csv wasm ttf otf eot ico bmp'.split(
      ' ',
    ),
  )('are created for .%s', async (extension) => {
    const [file] = await publish({ [`a.${extension}`]: text });
    expect(file!.brotli).toBeLessThan(500);
    expect(file!.gzip).toBeLessThan(500);
  });

  test.each('png jpg webp avif gif woff woff2 mp4 mp3 pdf zip gz unknown'.split(' '))(
    'are not created for .%s, whatever it contains',
    async (extension) => {
      const [file] = await publish({ [`a.${extension}`]: text });
      expect(file).toMatchObject({ brotli: undefined, gzip: undefined });
      expect(await readdir(join(folder, 'dep_1'))).toHaveLength(2);
    },
  );

  test("are created for content that is also stored under a page's name", async () => {
    const stored = await publish({ 'a.png': text, 'a.html': text });
    for (const { brotli } of stored) expect(brotli).toBeLessThan(500);
  });

  test.each([
    ['256 bytes', 256],
    ['128 KiB', 128 * 1024],
    ['a little more than 1 MiB', 1024 * 1024 + 1],
    ['8 MiB', 8 * 1024 * 1024],
  ])('of %s decompress to the same bytes', async (_, bytes) => {
    const line = `${randomBytes(30).toString('hex')}\n`;
    const page = line.repeat(bytes / line.length + 1).slice(0, bytes);
    const [file] = await publish({ 'a.html': page });
    const [br, gzip] = [
      await allOf(files.read('dep_1', file!, 'br')),
      await allOf(files.read('dep_1', file!, 'gzip')),
    ];
    expect(brotliDecompressSync(br).equals(Buffer.from(page))).toBe(true);
    expect(gunzipSync(gzip).equals(Buffer.from(page))).toBe(true);
  });
});

describe('readers who pause', () => {
  const openFiles = async () =>
    (await openPaths()).filter((path) => path.startsWith(folder)).length;
  const paused = async (count: number) => {
    const numbers = Array.from({ length: count }, (_, number) => number);
    const site = numbers.map((n) => [`${n}.bin`, Buffer.alloc(70_000, `file ${n} `)] as const);
    const stored = await publish(Object.fromEntries(site));
    const readers = stored.map((file) => files.read('dep_1', file, 'identity'));
    await Promise.all(readers.map((reader) => reader.next()));
    return readers;
  };

  test('share a few descriptors, which are closed when nobody reads', async () => {
    const readers = await paused(300);
    expect(await openFiles()).toBeLessThanOrEqual(128);
    await Promise.all(readers.map((reader) => reader.next()));
    expect(await openFiles()).toBeLessThanOrEqual(128);
    await until('none is open', async () => (await openFiles()) === 0);
  });

  test('do not keep a removed file open', async () => {
    const readers = await paused(20);
    await files.remove('dep_1');
    await until('none is open', async () => (await openFiles()) === 0);
    for (const reader of readers) {
      await expect(reader.next()).rejects.toHaveProperty('name', 'Unavailable');
    }
  });

  test('wait their turn when a file cannot be opened, without delaying others', async () => {
    const [file] = await publish({ 'a.txt': text });
    const gone = { ...file!, hash: 'x'.repeat(43) };
    const failing = Array.from({ length: 200 }, () => allOf(files.read('dep_1', gone, 'identity')));
    const failed = await Promise.allSettled(failing);
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
    expect(String(await allOf(files.read('dep_1', file!, 'identity')))).toBe(text);
  });
});

describe('after a crash', () => {
  test.each([
    { step: 'unpacking', done: 30 },
    { step: 'preparing', done: 30 },
  ] as const)(
    'while $step, the deploy is absent and its removal leaves nothing',
    async (stuckAt) => {
      await publish({ 'index.html': text }, 'dep_earlier');
      const before = await listingOf(home);
      const archive = await archiveOf('pages.zip', 60);
      await killWhereStuck({ folder, archives: [archive], stuckAt });
      await rm(archive);
      expect(await readdir(folder)).toEqual(['.dep_000001.partial', 'dep_earlier']);
      expect(await files.list('dep_000001')).toBeUndefined();
      await files.remove('dep_000001');
      expect(await listingOf(home)).toEqual(before);
    },
  );

  test('a new attempt with the same id begins empty', async () => {
    const archive = await archiveOf('pages.zip', 20);
    await killWhereStuck({ folder, archives: [archive], stuckAt: { step: 'preparing', done: 5 } });
    const { deploys, listing } = await deployInProcess({ folder, archives: [archive] });
    expect(deploys).toMatchObject([{ id: 'dep_000001', state: 'succeeded', files: 20 }]);
    expect(listing).toHaveLength(1 + 20 * 3 + 1);
  });

  test('a half-removed deploy is removed completely, and its id can be used again', async () => {
    await publish({ 'index.html': text });
    const before = await listingOf(home);
    await cp(join(folder, 'dep_1'), join(folder, '.dep_1.partial'), { recursive: true });
    await files.remove('dep_1');
    expect(await readdir(folder)).toEqual([]);
    await mkdir(join(folder, '.dep_1.partial', 'deeper'), { recursive: true });
    await publish({ 'index.html': text });
    expect(await listingOf(home)).toEqual(before);
  });
});

describe('on a disk that is full', () => {
  test('a deploy fails and leaves nothing, and other deploys are not affected', async () => {
    const page = (content: string | Buffer) => zipOf([{ name: 'index.html', content, method: 0 }]);
    const archives = [
      await upload('small.zip', page(text)),
      await upload('too-large.zip', page(randomBytes(4 * 1024 * 1024))),
      await upload('too-large-with-its-forms.zip', page(randomBytes(800_000).toString('hex'))),
      await upload('another.zip', page(`${text} again`)),
    ];
    await mkdir(folder, { recursive: true });
    const { deploys, listing } = await deployOnDisk('2m', { folder, archives });
    const full = { state: 'failed', problem: 'storage_full' };
    expect(deploys).toMatchObject([
      { state: 'succeeded' },
      { ...full, explanation: expect.stringContaining('no room left') as unknown },
      full,
      { state: 'succeeded' },
    ]);
    const folders = listing.filter((line) => line.endsWith(' 40700'));
    expect(folders).toEqual(['dep_000001 40700', 'dep_000004 40700']);
    expect(listing).toHaveLength(2 + 2 * 4);
  });
});

describe('unreadable storage is reported as unavailable', () => {
  const isUnavailable = (work: Promise<unknown>) =>
    expect(work).rejects.toMatchObject({
      name: 'Unavailable',
      cause: expect.anything() as unknown,
    });

  test('when its folder is a file', async () => {
    const [file] = await publish({ 'index.html': text });
    await rm(folder, { recursive: true });
    await writeFile(folder, 'no folder');
    await isUnavailable(files.begin('dep_1'));
    await isUnavailable(files.list('dep_1'));
    await isUnavailable(files.remove('dep_1'));
    await isUnavailable(allOf(files.read('dep_1', file!, 'identity')));
  });

  test.each(['not JSON', '{}', '[{"path":"index.html"}]'])(
    'when a manifest is invalid: %s',
    async (manifest) => {
      await publish({ 'index.html': text });
      await writeFile(join(folder, 'dep_1', 'manifest.json'), manifest);
      await isUnavailable(files.list('dep_1'));
    },
  );

  test('when a file is cut short', async () => {
    const [file] = await publish({ 'index.html': text });
    await truncate(join(folder, 'dep_1', file!.hash), 100);
    await isUnavailable(allOf(files.read('dep_1', file!, 'identity')));
    const start = await allOf(files.read('dep_1', file!, 'identity', { first: 0, last: 99 }));
    expect(start).toHaveLength(100);
  });

  test('when the folder of a draft is missing', async () => {
    const draft = await files.begin('dep_1');
    await rm(folder, { recursive: true });
    await isUnavailable(draft.write('index.html', inPieces(text)));
    await isUnavailable(draft.commit(() => undefined));
  });
});
