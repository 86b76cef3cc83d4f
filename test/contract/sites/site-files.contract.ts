import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { CountingIds } from '../../support/settable-clock.ts';
import type { SiteFiles, StoredFile } from '../../../src/sites/ports.ts';
import { refusal } from '../../support/refusal.ts';
import { scribble } from '../../support/scribble.ts';
import { allOf, brokenOff, inPieces } from '../../support/sites/sites.ts';

export interface OpenedSiteFiles {
  readonly files: SiteFiles;
  close(): Promise<void>;
}

type Site = Readonly<Record<string, string | Uint8Array>>;

const page = '<!doctype html><title>Birds</title>'.repeat(100);
/** Incompressible content, longer than any chunk that is read at once. */
const photo = randomBytes(200_000);
const birds: Site = {
  'index.html': page,
  'img/rex.jpg': photo,
  'empty.txt': '',
  '.well-known/ünïcode ☃.txt': 'short',
};

const byPath = (one: StoredFile, other: StoredFile) => (one.path < other.path ? -1 : 1);

export const siteFilesContract = (open: () => Promise<OpenedSiteFiles>): void => {
  const ids = new CountingIds();
  let opened: OpenedSiteFiles;
  let files: SiteFiles;
  let id: string;
  beforeAll(async () => {
    opened = await open();
    files = opened.files;
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    id = ids.next('dep');
  });

  const draftOf = async (site: Site, deployId = id) => {
    const draft = await files.begin(deployId);
    for (const [path, content] of Object.entries(site)) await draft.write(path, inPieces(content));
    return draft;
  };
  const publish = async (site: Site, deployId = id): Promise<readonly StoredFile[]> => {
    const draft = await draftOf(site, deployId);
    await draft.commit(() => undefined);
    return listed(deployId);
  };
  const listed = async (deployId = id): Promise<readonly StoredFile[]> =>
    [...((await files.list(deployId)) ?? [])].sort(byPath);
  const contentsOf = async (deployId = id) => {
    const contents: Record<string, string> = {};
    for (const file of await listed(deployId)) {
      contents[file.path] = (await read(file, 'identity', undefined, deployId)).toString('latin1');
    }
    return contents;
  };
  const read = (
    file: StoredFile,
    encoding: 'identity' | 'br' | 'gzip' = 'identity',
    range?: { readonly first: number; readonly last: number },
    deployId = id,
  ) => allOf(files.read(deployId, file, encoding, range));
  const asText = (site: Site) =>
    Object.fromEntries(
      Object.entries(site).map(([path, content]) => [
        path,
        Buffer.from(content).toString('latin1'),
      ]),
    );

  test('a deploy is read back as it was written, file by file', async () => {
    const stored = await publish(birds);
    expect(await contentsOf()).toEqual(asText(birds));
    for (const { path, bytes, hash } of stored) {
      expect({ path, bytes }).toEqual({ path, bytes: Buffer.from(birds[path]!).length });
      expect(hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    }
    const empty = stored.find(({ path }) => path === 'empty.txt');
    expect(empty?.hash).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
  });

  test('content arrives complete, however it is split into pieces', async () => {
    const draft = await files.begin(id);
    await draft.write('a.txt', inPieces('one, ', '', Buffer.alloc(100_000, 'x'), ' and two'));
    await draft.commit(() => undefined);
    expect(await contentsOf()).toEqual({ 'a.txt': `one, ${'x'.repeat(100_000)} and two` });
  });

  test('a deploy is absent until it is committed, and complete afterwards', async () => {
    const draft = await draftOf(birds);
    expect(await files.list(id)).toBeUndefined();
    await draft.commit(() => undefined);
    expect(await listed()).toHaveLength(4);
  });

  test('a deploy that was never written is absent', async () => {
    expect(await files.list('dep_nobody')).toBeUndefined();
  });

  test('a deploy can be empty', async () => {
    expect(await publish({})).toEqual([]);
    expect(await files.list(id)).toEqual([]);
  });

  test('preparation reports its progress up to the last file', async () => {
    const draft = await draftOf({ ...birds, 'copy.html': page });
    const told: number[] = [];
    await draft.commit((done) => told.push(done));
    expect(told).toEqual([...told].sort((one, other) => one - other));
    expect(told.at(-1)).toBe(5);
  });

  test('the compressed forms of a file decompress to the same bytes', async () => {
    const texts: Site = { 'index.html': page, 'style.css': 'a {}\n'.repeat(50_000) };
    for (const stored of await publish(texts)) {
      const { brotli = Infinity, gzip = Infinity, bytes } = stored;
      for (const smaller of [brotli, gzip]) expect(smaller).toBeLessThanOrEqual(bytes * 0.95);
      const [br, gz] = [await read(stored, 'br'), await read(stored, 'gzip')];
      expect([br.length, gz.length]).toEqual([brotli, gzip]);
      expect(brotliDecompressSync(br).toString()).toBe(texts[stored.path]);
      expect(gunzipSync(gz).toString()).toBe(texts[stored.path]);
    }
  });

  test('a deploy is restored exactly as it was read, compressed forms included', async () => {
    const stored = await publish({ ...birds, 'copy.html': page });
    const other = ids.next('dep');
    await publish({ 'old.html': 'old' }, other);
    await files.putBack(other, stored, (file, encoding) => files.read(id, file, encoding));
    expect(await listed(other)).toEqual(stored);
    for (const file of stored) {
      const encodings =
        file.brotli === undefined ? (['identity'] as const) : (['identity', 'br', 'gzip'] as const);
      for (const encoding of encodings) {
        const [one, same] = [
          await read(file, encoding),
          await read(file, encoding, undefined, other),
        ];
        expect(same.equals(one)).toBe(true);
      }
    }
  });

  test('a deploy whose restore is interrupted leaves nothing', async () => {
    const stored = await publish(birds);
    const other = ids.next('dep');
    const broken = () => brokenOff(new Error('it broke off'));
    await expect(files.putBack(other, stored, broken)).rejects.toThrow('it broke off');
    expect(await files.list(other)).toBeUndefined();
  });

  test('short or incompressible content is only stored uncompressed', async () => {
    const stored = await publish({ 'a.html': 'x'.repeat(255), 'b.html': randomBytes(1000) });
    for (const file of stored) {
      expect(file).toMatchObject({ brotli: undefined, gzip: undefined });
      await expect(read(file, 'br')).rejects.toThrow();
      await expect(read(file, 'gzip')).rejects.toThrow();
    }
  });

  test.each([
    ['the first byte', 0, 0],
    ['the last byte', 199_999, 199_999],
    ['a part in the middle', 65_530, 131_080],
    ['the whole file', 0, 199_999],
    ['beyond the last byte', 199_990, 300_000],
    ['nothing, beyond its end', 200_000, 200_010],
  ])('a range of a file can be read: %s', async (_, first, last) => {
    const [file] = await publish({ 'rex.jpg': photo });
    const part = await read(file!, 'identity', { first, last });
    expect(part.equals(photo.subarray(first, last + 1))).toBe(true);
  });

  test('a reader who pauses between two pieces gets the rest later', async () => {
    const [file] = await publish({ 'rex.jpg': photo });
    const readers = Array.from({ length: 300 }, () =>
      files.read(id, file!, 'identity')[Symbol.asyncIterator](),
    );
    const begun = await Promise.all(readers.map((reader) => reader.next()));
    const first = begun.map(({ value }) => Buffer.from(value as Uint8Array));
    expect(await allOf(files.read(id, file!, 'identity'))).toEqual(photo);
    for (const [at, reader] of readers.entries()) {
      const rest = await allOf({ [Symbol.asyncIterator]: () => reader });
      expect(Buffer.concat([first[at]!, rest]).equals(photo)).toBe(true);
    }
  });

  test('a range of a compressed form is a range of its own bytes', async () => {
    const [file] = await publish({ 'index.html': page });
    const whole = await read(file!, 'br');
    expect(await read(file!, 'br', { first: 2, last: 9 })).toEqual(whole.subarray(2, 10));
  });

  test('equal content at two paths is two files', async () => {
    const [one, other] = await publish({ 'a.html': page, 'b/a.html': page });
    expect(other).toEqual({ ...one, path: 'b/a.html' });
    expect(await contentsOf()).toEqual({ 'a.html': page, 'b/a.html': page });
  });

  test('deploys are independent of each other', async () => {
    const [one, other] = [id, ids.next('dep')];
    const drafts = await Promise.all([draftOf({ 'a.txt': 'one' }, one), draftOf(birds, other)]);
    await Promise.all(drafts.map((draft) => draft.commit(() => undefined)));
    await files.remove(other);
    expect(await contentsOf(one)).toEqual({ 'a.txt': 'one' });
    expect(await files.list(other)).toBeUndefined();
  });

  test('a removed deploy is gone, and removing it again is not an error', async () => {
    const [file] = await publish({ 'index.html': page });
    await files.remove(id);
    await files.remove(id);
    await Promise.all([files.remove(id), files.remove(id), files.remove('dep_nobody')]);
    expect(await files.list(id)).toBeUndefined();
    await expect(read(file!)).rejects.toHaveProperty('name', 'Unavailable');
  });

  test('a removed draft does not reappear', async () => {
    const draft = await draftOf(birds);
    await files.remove(id);
    const committing = draft.commit(() => undefined);
    await expect(committing).rejects.toHaveProperty('name', 'Unavailable');
    expect(await files.list(id)).toBeUndefined();
  });

  test.each(['half written', 'committed'])(
    'once its deploy is begun again, content that was %s is gone',
    async (how) => {
      const draft = await draftOf(birds);
      if (how === 'committed') await draft.commit(() => undefined);
      const again = await files.begin(id);
      expect(await files.list(id)).toBeUndefined();
      await again.write('index.html', inPieces('second attempt'));
      await again.commit(() => undefined);
      expect(await contentsOf()).toEqual({ 'index.html': 'second attempt' });
    },
  );

  test('an error from the content is passed on unchanged, and leaves nothing of its file', async () => {
    const draft = await draftOf({ 'index.html': page });
    await expect(draft.write('broken.txt', brokenOff(refusal))).rejects.toBe(refusal);
    expect(await files.list(id)).toBeUndefined();
    await draft.commit(() => undefined);
    expect(await contentsOf()).toEqual({ 'index.html': page });
  });

  test('a reader may stop in the middle', async () => {
    const [file] = await publish({ 'rex.jpg': photo });
    for await (const chunk of files.read(id, file!, 'identity')) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await read(file!)).equals(photo)).toBe(true);
  });

  test('changing a record that was read does not change the stored one', async () => {
    const given = Buffer.from(page);
    const draft = await files.begin(id);
    await draft.write('index.html', inOneBuffer(given));
    given.fill('X');
    await draft.commit(() => undefined);
    const kept = structuredClone(await listed());
    scribble(await files.list(id));
    for (const encoding of ['identity', 'br', 'gzip'] as const) {
      for await (const chunk of files.read(id, kept[0]!, encoding)) chunk.fill(0);
    }
    expect(await listed()).toEqual(kept);
    expect(await contentsOf()).toEqual({ 'index.html': page });
    expect(brotliDecompressSync(await read(kept[0]!, 'br')).toString()).toBe(page);
  });
};

async function* inOneBuffer(buffer: Buffer) {
  yield await Promise.resolve(buffer);
}
