import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzipSync,
  type BrotliOptions,
  type ZlibOptions,
} from 'node:zlib';
import { lookup } from 'mime-types';

const kib = 1024;
const mib = 1024 * kib;

const smallest = 256;

const compressible = new RegExp(
  [
    '^text/',
    '^application/(javascript|json|manifest|rtf|toml|wasm|x-sh|xml|yaml)$',
    '^application/vnd\\.ms-fontobject$',
    '^font/(collection|otf|ttf)$',
    '^image/(bmp|vnd\\.microsoft\\.icon|x-icon|x-ms-bmp)$',
    '\\+(json|xml)$',
  ].join('|'),
);

export const isCompressible = (path: string): boolean => compressible.test(lookup(path) || '');

/** `best` takes twenty times as long and saves another 10 %. */
export type Effort = 'best' | 'quick';

/** Compresses up to 1 MiB in the calling thread, because the whole process shares Node's thread pool. @returns the sizes */
export const writeSmallerForms = async (
  file: string,
  bytes: number,
  effort: Effort,
): Promise<{ readonly brotli: number | undefined; readonly gzip: number | undefined }> => {
  if (bytes < smallest) return { brotli: undefined, gzip: undefined };
  const [brotli, gzip] = [brotliFor(bytes, effort), gzipFor(bytes, effort)];
  if (bytes <= mib) {
    const content = await readFile(file);
    return {
      brotli: await writeForm(`${file}.br`, brotliCompressSync(content, brotli), bytes),
      gzip: await writeForm(`${file}.gz`, gzipSync(content, gzip), bytes),
    };
  }
  return {
    brotli: await streamForm(file, `${file}.br`, createBrotliCompress(brotli), bytes),
    gzip: await streamForm(file, `${file}.gz`, createGzip(gzip), bytes),
  };
};

const brotliQuality = (bytes: number, effort: Effort): number => {
  if (effort === 'quick' || bytes > mib) return 5;
  return bytes <= 128 * kib ? 11 : 9;
};

const brotliFor = (bytes: number, effort: Effort): BrotliOptions => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality(bytes, effort),
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
    [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(10, Math.ceil(Math.log2(bytes + 16)))),
  },
});

const gzipFor = (bytes: number, effort: Effort): ZlibOptions => ({
  level: effort === 'best' && bytes <= mib ? 9 : 6,
});

const writeForm = async (to: string, form: Buffer, bytes: number): Promise<number | undefined> => {
  if (!isWorthwhile(form.length, bytes)) return undefined;
  await writeFile(to, form, { mode: 0o600 });
  return form.length;
};

const streamForm = async (
  from: string,
  to: string,
  compression: Transform,
  bytes: number,
): Promise<number | undefined> => {
  await pipeline(createReadStream(from), compression, createWriteStream(to, { mode: 0o600 }));
  const { size } = await stat(to);
  if (isWorthwhile(size, bytes)) return size;
  await rm(to);
  return undefined;
};

/** Decompression costs the visitor time, so a form must be at least 5 % smaller. */
const isWorthwhile = (size: number, bytes: number): boolean => size <= bytes * 0.95;
