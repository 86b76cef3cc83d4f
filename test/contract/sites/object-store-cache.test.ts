import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CacheRoom } from '../../../src/adapters/storage/s3/content-cache.ts';
import type { StoredFile } from '../../../src/sites/ports.ts';
import { holdStopwatch } from '../../support/held-timeouts.ts';
import { startObjectStore, type ObjectStore } from '../../support/servers/object-store.ts';
import { machineAt, type Machine } from '../../support/sites/object-store-files.ts';
import { allOf, inPieces } from '../../support/sites/sites.ts';
import { until } from '../../support/until.ts';
import { SystemClock } from '../../../src/adapters/system/system-ports.ts';

const mib = 1024 * 1024;
const hour = 60 * 60 * 1000;
const clock = new SystemClock();

let store: ObjectStore;
let author: Machine;
let edge: Machine;
beforeEach(async () => {
  store = await startObjectStore();
  [author, edge] = await Promise.all([machineAt(store.place), machineAt(store.place)]);
});
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all([author.close(), edge.close(), store.stop()]);
});

type Site = Readonly<Record<string, Uint8Array>>;

const publish = async (site: Site): Promise<void> => {
  const draft = await author.files.begin('dep_1');
  for (const [path, content] of Object.entries(site)) await draft.write(path, inPieces(content));
  await draft.commit(() => undefined);
  store.requests.length = 0;
};
const photos = (count: number, bytes = mib): Site =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.jpg`, randomBytes(bytes)]));
const list = async ({ files }: Machine): Promise<readonly StoredFile[]> =>
  (await files.list('dep_1')) ?? [];
const fileAt = async (machine: Machine, path: string): Promise<StoredFile> =>
  (await list(machine)).find((file) => file.path === path)!;
const read = async (machine: Machine, path: string): Promise<Buffer> =>
  allOf(machine.files.read('dep_1', await fileAt(machine, path), 'identity'));
const isServed = async (machine: Machine, site: Site, path: string): Promise<boolean> =>
  (await read(machine, path)).equals(site[path]!);
const isUnavailable = (work: Promise<unknown>) =>
  expect(work).rejects.toMatchObject({ name: 'Unavailable' });

const cached = async ({ cache }: Machine): Promise<ReadonlyMap<string, number>> => {
  const names = await readdir(cache, { recursive: true }).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const file = await stat(join(cache, name)).catch(() => undefined);
      return file?.isFile() ? ([[join(cache, name), file.size]] as const) : [];
    }),
  );
  return new Map(found.flat());
};
const bytesOf = (files: ReadonlyMap<string, number>): number =>
  [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
const contentFiles = async (machine: Machine): Promise<readonly string[]> =>
  [...(await cached(machine)).keys()].filter((path) => !path.endsWith('manifest.json'));

describe('the cache of an edge', () => {
  test('fetches each part of a file once, however many visitors wait for it', async () => {
    const film = { 'film.mp4': randomBytes(3 * mib + 10) };
    await publish(film);
    const file = await fileAt(edge, 'film.mp4');
    const visits = Array.from({ length: 100 }, () =>
      allOf(edge.files.read('dep_1', file, 'identity')),
    );
    for (const content of await Promise.all(visits))
      expect(content.equals(film['film.mp4'])).toBe(true);
    expect(store.requests.map((one) => one.split(' ')[0])).toEqual(Array(1 + 4).fill('GET'));
  });

  test('fetches only the part of a large file that a visitor wants', async () => {
    const film = { 'film.mp4': randomBytes(5 * mib) };
    await publish(film);
    const file = await fileAt(edge, 'film.mp4');
    const range = { first: 3 * mib - 5, last: 3 * mib + 4 };
    const part = await allOf(edge.files.read('dep_1', file, 'identity', range));
    expect(part.equals(film['film.mp4'].subarray(range.first, range.last + 1))).toBe(true);
    expect(store.requests).toHaveLength(1 + 2);
  });

  test('serves its content while the store is unavailable, even after a restart', async () => {
    const site = photos(2);
    await publish(site);
    expect(await isServed(edge, site, '0.jpg')).toBe(true);
    await store.goAway();
    const restarted = edge.again();
    for (const machine of [edge, restarted]) {
      expect(await isServed(machine, site, '0.jpg')).toBe(true);
      await isUnavailable(read(machine, '1.jpg'));
      await isUnavailable(machine.files.list('dep_2'));
    }
    await store.comeBack();
    expect(await isServed(edge, site, '1.jpg')).toBe(true);
    expect(await isServed(restarted, site, '1.jpg')).toBe(true);
  });

  test('does not wait for a store that did not answer a moment ago', async () => {
    const site = photos(6, 1000);
    await publish(site);
    expect(await isServed(edge, site, '0.jpg')).toBe(true);
    store.fault = () => 'silent';
    holdStopwatch();
    await Promise.allSettled(['1.jpg', '2.jpg', '3.jpg'].map((path) => read(edge, path)));
    const asked = store.requests.length;
    await Promise.allSettled([
      isUnavailable(read(edge, '4.jpg')),
      isUnavailable(read(edge, '5.jpg')),
    ]);
    expect(store.requests).toHaveLength(asked);
    expect(await isServed(edge, site, '0.jpg')).toBe(true);
    store.fault = () => undefined;
    jest.advanceTimersByTime(999);
    await isUnavailable(read(edge, '4.jpg'));
    expect(store.requests).toHaveLength(asked);
    jest.advanceTimersByTime(1);
    expect(await isServed(edge, site, '4.jpg')).toBe(true);
  });

  test('fetches content again that a crash or a disk has damaged', async () => {
    const site = photos(4, 5000);
    await publish(site);
    for (const path of Object.keys(site)) expect(await isServed(edge, site, path)).toBe(true);
    const [one, two, three, four] = await contentFiles(edge);
    await truncate(one!, 0);
    await truncate(two!, 100);
    await writeFile(three!, Buffer.alloc(5032));
    const flipped = await readFile(four!);
    flipped[2000]! ^= 1;
    await writeFile(four!, flipped);
    const restarted = edge.again();
    for (const path of Object.keys(site)) expect(await isServed(restarted, site, path)).toBe(true);
    const mended = edge.again();
    await store.goAway();
    for (const path of Object.keys(site)) expect(await isServed(mended, site, path)).toBe(true);
  });

  test('can be emptied at any moment', async () => {
    const site = photos(2);
    await publish(site);
    const file = await fileAt(edge, '0.jpg');
    const reader = edge.files.read('dep_1', file, 'identity');
    const first = Buffer.from((await reader.next()).value as Uint8Array);
    await rm(edge.cache, { recursive: true });
    const rest = await allOf(reader);
    expect(Buffer.concat([first, rest]).equals(site['0.jpg']!)).toBe(true);
    expect(await isServed(edge, site, '1.jpg')).toBe(true);
  });

  test('is optional: if the disk has no room, files are served from the store', async () => {
    const site = photos(1, 3 * mib);
    await publish(site);
    await mkdir(join(edge.cache, '..'), { recursive: true });
    await writeFile(edge.cache, 'no folder');
    expect(await isServed(edge, site, '0.jpg')).toBe(true);
    expect(edge.problems).toHaveLength(1);
  });

  test('forgets a deploy that is removed', async () => {
    const site = photos(1);
    await publish(site);
    expect(await isServed(edge, site, '0.jpg')).toBe(true);
    await edge.files.remove('dep_1');
    expect(await cached(edge)).toEqual(new Map());
    expect(await edge.files.list('dep_1')).toBeUndefined();
  });

  test('queries the store once a second for a deploy that does not exist', async () => {
    holdStopwatch();
    for (let visit = 0; visit < 20; visit++) {
      expect(await edge.files.list('dep_nobody')).toBeUndefined();
    }
    expect(store.requests).toHaveLength(1);
    jest.advanceTimersByTime(1_001);
    await until('it is asked for again', async () => {
      expect(await edge.files.list('dep_nobody')).toBeUndefined();
      return store.requests.length > 1;
    });
    expect(store.requests).toHaveLength(2);
    store.requests.length = 0;
    await publish(photos(1, 10));
    expect(await list(author)).toHaveLength(1);
  });
});

describe('the size limit of a cache', () => {
  const most = 12 * mib;

  test('is never exceeded, even by two processes that share a folder', async () => {
    const site = photos(30);
    await publish(site);
    const processes = [edge.again(most), edge.again(most)];
    const paths = Object.keys(site);
    for (let at = 0; at < paths.length; at += 10) {
      const visits = processes.flatMap((one) =>
        paths.slice(at, at + 10).map((path) => isServed(one, site, path)),
      );
      expect((await Promise.all(visits)).every(Boolean)).toBe(true);
      expect(bytesOf(await cached(edge))).toBeLessThanOrEqual(most);
    }
    expect((await contentFiles(edge)).length).toBeGreaterThan(2);
  });

  test('evicts what was used least recently', async () => {
    const site = photos(30);
    await publish(site);
    const before = edge.again(most);
    for (const at of [0, 1, 2]) expect(await isServed(before, site, `${at}.jpg`)).toBe(true);
    const old = (clock.now().getTime() - 2 * hour) / 1000;
    for (const path of await contentFiles(edge)) await utimes(path, old, old);
    const [first, ...others] = await Promise.all(
      [0, 1, 2].map(async (at) => (await fileAt(edge, `${at}.jpg`)).hash),
    );
    const isThere = async (hash: string | undefined) =>
      (await contentFiles(edge)).some((path) => path.endsWith(`${hash ?? ''}.0`));
    const after = edge.again(most);
    expect(await isServed(after, site, '0.jpg')).toBe(true);
    for (let at = 3; (await isThere(others[0])) || (await isThere(others[1])); at++) {
      expect(await isServed(after, site, `${at}.jpg`)).toBe(true);
    }
    expect(await isThere(first)).toBe(true);
  });

  test('removes expired content even when nothing is added', async () => {
    const folder = join(edge.cache, 'dep_0');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'unused.0'), 'x');
    await utimes(join(folder, 'unused.0'), 0, 0);
    new CacheRoom(edge.cache, most, 200);
    await until('it is gone, and its folder', async () => (await readdir(edge.cache)).length === 0);
  });

  test('removes content unused for a week, and leftovers of dead processes', async () => {
    await publish(photos(2, 1000));
    const folder = join(edge.cache, 'dep_0');
    await mkdir(folder, { recursive: true });
    const days = (count: number) => (clock.now().getTime() - count * 24 * hour) / 1000;
    const plant = async (name: string, age: number) => {
      await writeFile(join(folder, name), 'x');
      await utimes(join(folder, name), age, age);
    };
    await plant('unused.0', days(8));
    await plant('used.0', days(6));
    await plant('dead.0.1.incoming', days(0.1));
    await plant('busy.0.2.incoming', days(0.01));
    await list(edge);
    await until('they are gone', async () => (await readdir(folder)).length === 2);
    expect((await readdir(folder)).sort()).toEqual(['busy.0.2.incoming', 'used.0']);
  });
});
