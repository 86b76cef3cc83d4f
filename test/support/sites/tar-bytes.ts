import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';

export type TarEntry = Partial<Header> & {
  readonly name: string;
  readonly content?: string | Buffer;
};

/** @returns a tar as it would be written by a tool that checks nothing */
export const tarOf = (...entries: readonly TarEntry[]): Promise<Buffer> => {
  const tar = pack();
  for (const { content, ...header } of entries) {
    if (content === undefined) tar.entry(header);
    else tar.entry(header, Buffer.from(content));
  }
  tar.finalize();
  return buffer(tar as AsyncIterable<Buffer>);
};

export const tgzOf = async (...entries: readonly TarEntry[]): Promise<Buffer> =>
  gzipSync(await tarOf(...entries));
