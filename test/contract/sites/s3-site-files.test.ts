import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SiteFiles } from '../../../src/sites/ports.ts';
import {
  startObjectStore,
  type ObjectStore,
  type StoreFault,
  type StoreRequest,
} from '../../support/servers/object-store.ts';
import { machineAt, type Machine } from '../../support/sites/object-store-files.ts';
import type { UploadOrder } from '../../support/sites/upload-deploy.ts';
import { allOf, inPieces } from '../../support/sites/sites.ts';

type Site = Readonly<Record<string, string | Uint8Array>>;

const mib = 1024 * 1024;
const page = '<!doctype html><title>Birds</title>'.repeat(100);
/** Three parts, and not a whole number of blocks. */
const film = randomBytes(10 * mib + 1000);
const birds: Site = { 'index.html': page, 'copy.html': page, 'img/rex.jpg': randomBytes(200_000) };

let store: ObjectStore;
let here: Machine;
let there: Machine;
beforeEach(async () => {
  store = await startObjectStore();
  [here, there] = await Promise.all([machineAt(store.place), machineAt(store.place)]);
});
afterEach(() => Promise.all([here.close(), there.close(), store.stop()]));

const draftOf = async (site: Site, files: SiteFiles = here.files, id = 'dep_1') => {
  const draft = await files.begin(id);
  for (const [path, content] of Object.entries(site)) await draft.write(path, inPieces(content));
  return draft;
};
const publish = async (site: Site, files: SiteFiles = here.files, id = 'dep_1'): Promise<void> => {
  const draft = await draftOf(site, files, id);
  await draft.commit(() => undefined);
};
type Hashes = Readonly<Record<string, string>>;
const hashOf = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('base64url');
const hashesOf = (site: Site): Hashes =>
  Object.fromEntries(Object.entries(site).map(([path, content]) => [path, hashOf(content)]));
const readOn = async ({ files }: Machine, id = 'dep_1'): Promise<Hashes | undefined> => {
  const list = await files.list(id);
  if (!list) return undefined;
  const contents = list.map(
    async (file) => [file.path, hashOf(await allOf(files.read(id, file, 'identity')))] as const,
  );
  return Object.fromEntries(await Promise.all(contents));
};
const isUnavailable = (work: Promise<unknown>) =>
  expect(work).rejects.toMatchObject({ name: 'Unavailable' });

/** The first request of each kind fails; repeating it works. */
const onceEach = (fault: StoreFault): ObjectStore['fault'] => {
  const seen = new Set<string>();
  return ({ method, key, query }) => {
    const one = `${method} ${key} ${query.replace(/uploadId=\w+/, '')}`;
    if (seen.has(one)) return undefined;
    seen.add(one);
    return fault;
  };
};

describe('a deploy in an object store', () => {
  test('uses the same file names as a folder, below the prefix', async () => {
    await publish(birds);
    const [image, text] = ['[\\w-]{43}', '[\\w-]{43}(\\.br|\\.gz)?'];
    const keys = await store.keys();
    const below = keys.map((key) => key.slice(store.place.prefix.length));
    expect(keys.every((key) => key.startsWith(store.place.prefix))).toBe(true);
    for (const key of below) {
      expect(key).toMatch(new RegExp(`^dep_1/(manifest\\.json|${image}|${text})$`));
    }
    expect(below).toHaveLength(1 + 1 + 3);
  });

  test('leaves nothing on the machine that published it', async () => {
    await publish(birds);
    expect(await readdir(here.staging)).toEqual([]);
  });

  test('is the same on every machine', async () => {
    await publish({ ...birds, 'film.mp4': film });
    expect(await readOn(there)).toEqual(hashesOf({ ...birds, 'film.mp4': film }));
    expect(await readOn(here)).toEqual(hashesOf({ ...birds, 'film.mp4': film }));
  });

  test('that another machine removes while it is uploaded never reappears, even for a moment', async () => {
    const draft = await draftOf(birds);
    await there.files.remove('dep_1');
    store.requests.length = 0;
    await isUnavailable(draft.commit(() => undefined));
    expect(store.requests.filter((one) => one.startsWith('PUT dep_1/manifest'))).toEqual([]);
    expect(await readOn(there)).toBeUndefined();
    expect(await store.keys()).toEqual([]);
  });

  test('that another machine removes just before its manifest is stored does not reappear', async () => {
    const draft = await draftOf(birds);
    store.before = async ({ method, key }) => {
      if (method === 'PUT' && key.endsWith('manifest.json')) await there.files.remove('dep_1');
    };
    await isUnavailable(draft.commit(() => undefined));
    expect(await readOn(there)).toBeUndefined();
    expect(await store.keys()).toEqual([]);
  });

  test('with more files than the store lists at once is removed completely, without affecting other deploys', async () => {
    store.mostListed = 10;
    for (let at = 0; at < 31; at++) await store.plant(`dep_1/${at}`);
    await store.plant('dep_10/0');
    await there.files.remove('dep_1');
    expect(await store.keys()).toEqual([`${store.place.prefix}dep_10/0`]);
  });

  test('is absent from the moment when its removal begins', async () => {
    await publish(birds);
    store.fault = ({ method, key }) =>
      method === 'DELETE' && !/(draft|json)$/.test(key) ? 'denied' : undefined;
    await isUnavailable(here.files.remove('dep_1'));
    expect(await readOn(there)).toBeUndefined();
    store.fault = () => undefined;
    await here.files.remove('dep_1');
    expect(await store.keys()).toEqual([]);
  });

  test('that the store still lists after its removal is removed later, without an endless loop', async () => {
    await publish(birds);
    store.fault = ({ method }) => (method === 'DELETE' ? 'feigned' : undefined);
    await isUnavailable(here.files.remove('dep_1'));
    store.fault = () => undefined;
    await here.files.remove('dep_1');
    expect(await store.keys()).toEqual([]);
  });

  test('is not uploaded further once a file is refused', async () => {
    const many = Array.from({ length: 150 }, (_, at) => [`${at}.jpg`, randomBytes(100)] as const);
    const draft = await draftOf(Object.fromEntries(many));
    store.requests.length = 0;
    store.fault = ({ method }) => (method === 'PUT' ? 'denied' : undefined);
    await isUnavailable(draft.commit(() => undefined));
    expect(store.requests.length).toBeLessThan(100);
  });

  test('is removed once and in order, however many requests do so at the same time', async () => {
    await publish(birds);
    store.requests.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => there.files.remove('dep_1')));
    const deletions = store.requests.filter((one) => one.startsWith('DELETE'));
    expect(deletions.filter((one) => one.includes('manifest'))).toHaveLength(1);
    // The mark is removed before the manifest, and the manifest before the contents.
    expect(deletions.slice(0, 2).map((one) => one.split('?')[0])).toEqual([
      'DELETE dep_1/draft',
      'DELETE dep_1/manifest.json',
    ]);
  });

  test('with content that somebody changed in the store is not served', async () => {
    await publish(birds);
    const list = (await there.files.list('dep_1')) ?? [];
    for (const change of [
      (body: Buffer) => Buffer.alloc(body.length),
      (body: Buffer) => body.subarray(1),
    ]) {
      store.answer = change;
      for (const file of list) {
        await isUnavailable(allOf(there.files.read('dep_1', file, 'identity')));
      }
    }
    // A compressed form has no hash, but a length.
    const [zipped] = list.filter(({ gzip }) => gzip !== undefined);
    await isUnavailable(allOf(there.files.read('dep_1', zipped!, 'gzip')));
    store.answer = (body) => body;
    expect(await readOn(there)).toEqual(hashesOf(birds));
  });
});

describe('a process that is killed while it uploads', () => {
  const order = (deployId: string): UploadOrder => ({
    place: store.place,
    folder: here.folder,
    deployId,
    files: [
      { path: 'index.html', bytes: 1000 },
      { path: 'film.mp4', bytes: 6 * mib },
    ],
  });
  const uploadUntil = async (isThere: (request: StoreRequest) => boolean): Promise<void> => {
    const arrived = Promise.withResolvers<undefined>();
    store.fault = (request) => {
      if (!isThere(request)) return undefined;
      arrived.resolve(undefined);
      return 'silent';
    };
    const child = spawn(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, '../../support/sites/upload-deploy.ts'),
      JSON.stringify(order('dep_1')),
    ]);
    const exit = once(child, 'exit');
    await Promise.race([arrived.promise, exit]);
    child.kill('SIGKILL');
    expect(await exit).toEqual([null, 'SIGKILL']);
    store.fault = () => undefined;
  };

  test.each([
    ['a content', ({ method, key }: StoreRequest) => method === 'PUT' && key.endsWith('.br')],
    ['a part', ({ query }: StoreRequest) => query.includes('partNumber=2')],
    ['the list', ({ method, key }: StoreRequest) => method === 'PUT' && key.endsWith('.json')],
  ])(
    'at %s leaves nothing that is served, and nothing at all after the deploy is removed',
    async (_, at) => {
      await uploadUntil(at);
      expect(await store.keys()).not.toEqual([]);
      for (const machine of [here, there]) expect(await readOn(machine)).toBeUndefined();
      await there.files.remove('dep_1');
      expect([await store.keys(), await store.unfinished()]).toEqual([[], []]);
    },
  );

  test('leaves a folder on its machine that a later upload removes', async () => {
    await uploadUntil(({ query }) => query.includes('partNumber=2'));
    await publish(birds, here.files, 'dep_2');
    expect(await readdir(here.staging)).toEqual(['dep_1']);
    await utimes(join(here.staging, 'dep_1'), 0, 0);
    await publish(birds, here.files, 'dep_3');
    expect(await readdir(here.staging)).toEqual([]);
  });
});

describe('while the store has faults', () => {
  test.each([['refused'], ['reset'], ['lost'], ['cut'], [100]] as const)(
    'where each request fails once (%s), a deploy is published, read and removed',
    async (fault) => {
      store.fault = onceEach(fault);
      const site = { ...birds, 'film.mp4': film };
      await publish(site);
      expect(await readOn(there)).toEqual(hashesOf(site));
      await there.files.remove('dep_1');
      expect([await store.keys(), await store.unfinished()]).toEqual([[], []]);
    },
  );

  const isPartOfFilm = ({ method, query }: StoreRequest) =>
    method === 'PUT' && query.includes('partNumber=3');
  const isList = ({ method, key }: StoreRequest) =>
    method === 'PUT' && key === 'dep_1/manifest.json';
  const isCompletion = ({ method, query }: StoreRequest) =>
    method === 'POST' && query.includes('uploadId');
  test.each([
    ['a part of a large file', isPartOfFilm],
    ['the completion of a large file', isCompletion],
    ['the list of the files', isList],
  ])('that refuses %s, a deploy is absent, and its removal leaves nothing', async (_, isIt) => {
    store.fault = (request) => (isIt(request) ? 'refused' : undefined);
    await isUnavailable(publish({ ...birds, 'film.mp4': film }));
    expect(await readOn(there)).toBeUndefined();
    expect(await store.unfinished()).toEqual([]);
    await here.files.remove('dep_1');
    expect([await store.keys(), await readdir(here.staging)]).toEqual([[], []]);
  });

  test('an error is reported without its signed values', async () => {
    process.env['AWS_SESSION_TOKEN'] = 'a-token-that-nobody-may-see';
    const stranger = await machineAt({ ...store.place, bucket: 'elsewhere' });
    const error: unknown = await stranger.files.list('dep_1').catch((thrown: unknown) => thrown);
    delete process.env['AWS_SESSION_TOKEN'];
    expect(error).toMatchObject({ name: 'Unavailable', cause: { name: 'S3Failure' } });
    const { cause } = error as Error;
    expect(Object.keys(cause as object).sort()).toEqual(['code', 'name', 'status']);
    expect(JSON.stringify([String(cause), cause])).not.toContain('nobody-may-see');
    await stranger.close();
  });
});
