import { gzipSync } from 'node:zlib';
import { tarOf, tgzOf } from '../support/sites/tar-bytes.ts';

const index = { name: 'index.html', content: '<h1>Birds</h1>' };

/** Few hundred bytes with one folder, whose path has 200 000 slashes. */
export const manySlashes = (): Promise<Buffer> =>
  tgzOf({ name: `a${'/'.repeat(200_000)}b`, type: 'directory' }, index);

/** Some 200 KB: 9 990 files, each below 506 folders. */
export const deepFolders = async (): Promise<Buffer> => {
  const folder = 'd/'.repeat(506);
  const files = Array.from({ length: 9_989 }, (_, at) => ({
    ...{ name: `${folder}${String(at)}`, content: '' },
  }));
  return gzipSync(await tarOf(index, ...files), { level: 9 });
};

/** A file that no edge keeps in memory. */
export const largeFile = (): Promise<Buffer> =>
  tgzOf(index, { name: 'large.bin', content: Buffer.alloc(8 * 1024 * 1024, 'animal') });
