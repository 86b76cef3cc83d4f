import { describe, expect, test } from '@jest/globals';
import type { ServedForm } from '../../../src/adapters/edge/served-file.ts';
import { SiteCache } from '../../../src/adapters/edge/site-cache.ts';
import { SiteFiles, type StoredFile } from '../../../src/sites/ports.ts';

const small = 500;

/** Files named by numbers; each read waits until it is released. */
class SlowFiles extends SiteFiles {
  readonly waiting: (() => void)[] = [];
  lists = 0;
  fails = false;

  override begin(): never {
    throw new Error('nothing is written');
  }

  override putBack(): never {
    throw new Error('nothing is put back');
  }

  override remove(): never {
    throw new Error('nothing is removed');
  }

  override list(deployId: string): Promise<readonly StoredFile[] | undefined> {
    this.lists += 1;
    if (this.fails) return Promise.reject(new Error('away'));
    const bytes = small;
    const files = Array.from({ length: 300 }, (_, at) => ({
      path: String(at),
      bytes,
      hash: `h${at}`,
      brotli: undefined,
      gzip: undefined,
    }));
    return Promise.resolve(deployId === 'none' ? undefined : files);
  }

  override async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    await new Promise<void>((go) => this.waiting.push(go));
    if (this.fails) throw new Error('away');
    yield new Uint8Array(small);
  }
}

const the = (deployId: string) => ({ deployId, isPreview: false });

const formsOf = async (cache: SiteCache): Promise<readonly ServedForm[]> =>
  [...((await cache.site(the('dep_1'))) ?? [])].map(([, { forms }]) => forms.identity!);

describe('the cache', () => {
  test('lists a site once for any number of concurrent requests, and keeps the list', async () => {
    const files = new SlowFiles();
    const cache = new SiteCache(files);
    const found = await Promise.all([cache.site(the('dep_1')), cache.site(the('dep_1'))]);
    expect(found[0]).toBe(found[1]);
    expect(cache.site(the('dep_1'))).toBe(found[0]);
    expect(files.lists).toBe(1);
  });

  test('does not keep missing sites or storage failures', async () => {
    const files = new SlowFiles();
    const cache = new SiteCache(files);
    expect(await cache.site(the('none'))).toBeUndefined();
    files.fails = true;
    await expect(cache.site(the('dep_1'))).rejects.toThrow('away');
    files.fails = false;
    expect((await cache.site(the('dep_1')))?.size).toBe(300);
    expect(await cache.site(the('none'))).toBeUndefined();
    expect(files.lists).toBe(4);
  });

  test('reads content once for any number of concurrent requests', async () => {
    const files = new SlowFiles();
    const cache = new SiteCache(files);
    const [form] = await formsOf(cache);
    const asked = [1, 2].map(async () => cache.content('dep_1', form!));
    expect(files.waiting).toHaveLength(1);
    files.waiting[0]?.();
    const [one, other] = await Promise.all(asked);
    expect(one).toBe(other);
    expect(cache.content('dep_1', form!)).toBe(one);
  });

  test('does not keep a failure to read', async () => {
    const files = new SlowFiles();
    const cache = new SiteCache(files);
    const [form] = await formsOf(cache);
    files.fails = true;
    const failed = cache.content('dep_1', form!);
    files.waiting[0]?.();
    await expect(failed).rejects.toThrow('away');
    files.fails = false;
    const read = cache.content('dep_1', form!);
    files.waiting[1]?.();
    expect((await read)?.content).toHaveLength(small);
  });

  test('does not keep large files, which are read piece by piece', async () => {
    const cache = new SiteCache(new SlowFiles());
    const [form] = await formsOf(cache);
    expect(cache.content('dep_1', { ...form!, bytes: 512 * 1024 + 1 })).toBeUndefined();
  });
});
