import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ZipFile } from 'yazl';
import { archiveSource } from '../../../src/adapters/archives/open-upload.ts';
import { FileSystemSiteFiles } from '../../../src/adapters/storage/file-system-site-files.ts';
import { uploadProblems } from '../../../src/sites/domain/sites-error.ts';
import { deployInProcess } from '../../support/sites/deploying-process.ts';
import { bombs } from '../../support/sites/hostile-archives.ts';
import { siteLab, type SiteLab } from '../../support/sites/site-lab.ts';
import { isOpen } from '../../support/sites/direct-unpacking.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { allOf } from '../../support/sites/sites.ts';
import { tarOf, tgzOf, zipOf } from '../../support/sites/archive-bytes.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const open = storesOfTests();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'animal-store-archives-'));
});
afterEach(() => rm(folder, { recursive: true }));

type Site = Readonly<Record<string, string>>;

const long = `${'long-name/'.repeat(30)}index.html`;
const birds: Site = {
  'index.html': '<!doctype html>'.repeat(10_000),
  'empty.txt': '',
  'img/ünïcode ☃.svg': '<svg/>',
  [long]: 'far down',
};

const saved = async (bytes: Buffer, name = 'upload'): Promise<string> => {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
};

const zipped = (site: Site, compress = true): Promise<Buffer> => {
  const zip = new ZipFile();
  zip.addEmptyDirectory('img');
  for (const [path, content] of Object.entries(site)) {
    zip.addBuffer(Buffer.from(content), path, { compress });
  }
  zip.end();
  return buffer(zip.outputStream);
};

const packedBy = async (format: string, site: Site): Promise<string> => {
  const [from, to] = [join(folder, 'site'), join(folder, 'site.tgz')];
  for (const [path, content] of Object.entries(site)) {
    await mkdir(dirname(join(from, path)), { recursive: true });
    await writeFile(join(from, path), content);
  }
  await promisify(execFile)('tar', [`--format=${format}`, '-czf', to, '-C', from, '.']);
  return to;
};

const filesIn = async (path: string): Promise<Site> => {
  const files: Record<string, string> = {};
  for await (const { path: name, kind, content } of (await archiveSource(path)).entries) {
    if (kind === 'file') files[name.replace(/^\.\//, '')] = (await allOf(content)).toString();
  }
  return files;
};

describe('an archive yields the files that were packed', () => {
  test('into a zip, with and without compression', async () => {
    for (const compress of [true, false]) {
      expect(await filesIn(await saved(await zipped(birds, compress)))).toEqual(birds);
    }
  });

  test('into a gzipped tar by a library', async () => {
    const entries = Object.entries(birds).map(([name, content]) => ({ name, content }));
    expect(await filesIn(await saved(await tgzOf(...entries)))).toEqual(birds);
  });

  test.each(['gnu', 'pax'])('into a gzipped tar of the format "%s" by tar', async (format) => {
    expect(await filesIn(await packedBy(format, birds))).toEqual(birds);
  });

  test('into a gzip of several members', async () => {
    const tar = await tarOf({ name: 'index.html', content: birds['index.html']! });
    const parts = [tar.subarray(0, 700), tar.subarray(700)].map((part) => gzipSync(part));
    expect(await filesIn(await saved(Buffer.concat(parts)))).toEqual({
      'index.html': birds['index.html'],
    });
  });

  test('whatever its file name', async () => {
    const zip = await saved(await zipped(birds), 'site.tar.gz');
    const tgz = await saved(await tgzOf({ name: 'a', content: 'x' }), 'site.zip');
    expect(await filesIn(zip)).toEqual(birds);
    expect(await filesIn(tgz)).toEqual({ a: 'x' });
  });

  test('with their names, in UTF-8 with or without its flag, or in the old code page', async () => {
    const content = '';
    const bytes = zipOf([
      { name: 'ünï.txt', content },
      { name: 'ünï2.txt', content, flags: 0 },
      { name: Buffer.from([0x81, 0x2e, 0x74]), content, flags: 0 },
    ]);
    expect(Object.keys(await filesIn(await saved(bytes)))).toEqual(['ünï.txt', 'ünï2.txt', 'ü.t']);
  });
});

const formats: readonly (readonly [string, (site: Site) => Promise<Buffer>])[] = [
  ['zip', zipped],
  [
    'gzipped tar',
    (site) => tgzOf(...Object.entries(site).map(([name, content]) => ({ name, content }))),
  ],
];

describe.each(formats)('reading a %s', (format, pack) => {
  const big = 'x'.repeat(3_000_000);
  const site = { '1': big, '2': big, '3': 'three', '4': big, '5': 'five' };

  test('skips unread entries and the rest of partly read ones', async () => {
    const path = await saved(await pack(site));
    const read: Record<string, number> = {};
    for await (const { path: name, content } of (await archiveSource(path)).entries) {
      if (name === '2' || name === 'img/') continue;
      for await (const chunk of content) {
        read[name] = (read[name] ?? 0) + chunk.length;
        if (name === '1') break;
      }
    }
    const { '1': part, ...whole } = read;
    expect(part).toBeLessThan(3_000_000);
    expect(whole).toEqual({ 3: 5, 4: 3_000_000, 5: 4 });
    expect(await isOpen(path)).toBe(false);
  });

  test('reports the number of entries of a zip in advance', async () => {
    const { total } = await archiveSource(await saved(await pack(site)));
    expect(total).toBe(format === 'zip' ? 6 : undefined);
  });

  test('may stop anywhere and leaves nothing open', async () => {
    const path = await saved(await pack(site));
    await archiveSource(path);
    expect(await isOpen(path)).toBe(false);
    for await (const { content } of (await archiveSource(path)).entries) {
      expect(await isOpen(path)).toBe(true);
      await content[Symbol.asyncIterator]().next();
      break;
    }
    expect(await isOpen(path)).toBe(false);
    const reading = async () => {
      for await (const { content } of (await archiveSource(path)).entries) {
        for await (const chunk of content) throw new Error(`no more than ${String(chunk.length)}`);
      }
    };
    await expect(reading()).rejects.toThrow('no more than');
    expect(await isOpen(path)).toBe(false);
  });
});

describe('a hostile archive', () => {
  test('does not fill the memory, however large its content is', async () => {
    const archives: string[] = [];
    for (const [at, bytes] of bombs.entries()) {
      archives.push(await saved(await bytes(), `bomb-${String(at)}`));
    }
    await mkdir(join(folder, 'deploys'));
    const outcome = await deployInProcess({ folder: join(folder, 'deploys'), archives });
    const refused = { state: 'failed', problem: 'archive_too_large' };
    expect(outcome).toMatchObject({ deploys: [refused, refused, refused], listing: [] });
    // Node alone takes about 100 MiB. Collecting any of these in memory would take 200 more.
    expect(outcome.largestMiB).toBeGreaterThan(30);
    expect(outcome.largestMiB).toBeLessThan(200);
  });

  test('that is detected while its reader pauses does not affect others', async () => {
    const tgz = await tgzOf({ name: 'index.html', content: 'x'.repeat(30_000) });
    tgz.fill(7, tgz.length - 8);
    const archives = [await saved(tgz, 'bad'), await saved(await zipped(birds), 'good')];
    await mkdir(join(folder, 'deploys'));
    const orders = { folder: join(folder, 'deploys'), archives, isSlow: true };
    const { deploys } = await deployInProcess(orders);
    expect(deploys).toMatchObject([
      { state: 'failed', problem: 'archive_unreadable' },
      { state: 'succeeded' },
    ]);
  });

  test.each([
    ['zip', 1, () => zipped(birds)],
    ['stored zip', 2, () => zipped(birds, false)],
    ['gzipped tar', 3, () => tgzOf(...Object.keys(birds).map((name) => ({ name, content: name })))],
    ['tar', 4, () => tarOf(...Object.keys(birds).map((name) => ({ name, content: name })))],
  ] as const)(
    'is published or refused, wherever a byte of a %s is wrong',
    async (format, seed, pack) => {
      const random = seededRandom(seed);
      const good = await pack();
      const site = await siteLab(await open(), new FileSystemSiteFiles(join(folder, 'deploys')));
      const outcomes = new Set<string>();
      for (let n = 0; n < 60; n++) {
        const bad = Buffer.from(good);
        // Headers are at both ends, so mutations there are more interesting.
        const reach = random() < 0.5 ? 600 : bad.length;
        const at = Math.floor(random() * Math.min(reach, bad.length));
        bad[random() < 0.5 ? at : bad.length - 1 - at] = Math.floor(random() * 256);
        const cut = random() < 0.1 ? bad.subarray(0, Math.floor(random() * bad.length)) : bad;
        const path = await saved(format === 'tar' ? gzipSync(cut) : cut);
        outcomes.add(await outcomeOf(path, site));
        expect(await isOpen(path)).toBe(false);
      }
      expect(['succeeded', ...uploadProblems]).toEqual(expect.arrayContaining([...outcomes]));
      expect(outcomes.size).toBeGreaterThan(1);
    },
  );
});

/** Every outcome that is not the archive's fault is an error. */
const outcomeOf = async (path: string, site: SiteLab): Promise<string> => {
  const source = await archiveSource(path).catch((error: unknown) => {
    expect(error).toMatchObject({
      code: 'archive_unsupported',
      message: "We can't read this file. Upload a .zip, .tar.gz or .tgz.",
    });
  });
  if (!source) return 'archive_unsupported';
  const deploy = await site.deploy(source);
  expect(deploy.state).not.toBe('uploading');
  return deploy.state === 'failed' ? deploy.problem : deploy.state;
};
