import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import { lookup } from 'mime-types';

const kib = 1024;
const mib = 1024 * kib;

/** Below that, what a smaller form saves is less than a packet. */
const smallest = 256;

/** A form is kept when it is at least 5 % smaller: unpacking it costs the visitor something. */
const worthwhile = 0.95;

/** Types that no form of compression is part of. */
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

/** Judged by its name, as its type is for visitors. */
export const isCompressible = (path: string): boolean => compressible.test(lookup(path) || '');

/**
 * Writes `<file>.br` and `<file>.gz`, as far as each is worth it.
 * @returns how many bytes each has
 */
export const writeSmallerForms = async (
  file: string,
  bytes: number,
): Promise<{ readonly brotli: number | undefined; readonly gzip: number | undefined }> => {
  if (bytes < smallest) return { brotli: undefined, gzip: undefined };
  const brotli = await writeForm(file, `${file}.br`, brotliFor(bytes), bytes);
  const gzip = await writeForm(file, `${file}.gz`, gzipFor(bytes), bytes);
  return { brotli, gzip };
};

type Compression = ReturnType<typeof createGzip> | ReturnType<typeof createBrotliCompress>;

/** The better ones take longer than large files are worth, and a window beyond the file takes memory only. */
const brotliFor = (bytes: number): Compression =>
  createBrotliCompress({
    params: {
      [constants.BROTLI_PARAM_QUALITY]: bytes <= 128 * kib ? 11 : bytes <= mib ? 9 : 5,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes,
      [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(10, Math.ceil(Math.log2(bytes + 16)))),
    },
  });

const gzipFor = (bytes: number): Compression => createGzip({ level: bytes <= mib ? 9 : 6 });

const writeForm = async (
  from: string,
  to: string,
  compression: Compression,
  bytes: number,
): Promise<number | undefined> => {
  await pipeline(createReadStream(from), compression, createWriteStream(to, { mode: 0o600 }));
  const { size } = await stat(to);
  if (size <= bytes * worthwhile) return size;
  await rm(to);
  return undefined;
};
