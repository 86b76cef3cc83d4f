import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Extract, type Header } from 'tar-stream';
import { siteLimits, type EntryKind } from '../../sites/domain/site-contents.ts';
import type { SourceEntry } from '../../sites/ports.ts';
import { bytesOf, damaged, problem } from './archive-bytes.ts';

/** A gzip of zeros can hold terabytes without a single entry, so the whole tar has a limit. */
const largestTar = 2 * siteLimits.bytes;

export async function* tarEntries(path: string): AsyncGenerator<SourceEntry, void, undefined> {
  const handle = await open(path);
  const tar = withShortHeaders(extract());
  // This must not reject, because it may fail while nothing awaits it.
  const unpacking = pipeline(bytesOf(handle), createGunzip(), upToLargest, tar).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  try {
    for await (const entry of tar) {
      const chunks = entry[Symbol.asyncIterator]() as Chunks;
      const { header } = entry;
      yield { path: header.name, kind: kindOf(header), content: withoutReturn(chunks) };
      if (header.type !== 'directory') await skipRest(chunks);
    }
    const failure = await unpacking;
    if (failure) throw failure.error;
  } catch (error) {
    throw damaged(error);
  } finally {
    tar.destroy();
    await unpacking;
    await handle.close();
  }
}

const longestExtension = 16 * 1024;
/** Most bytes of all extended headers together: twice what 10 000 of the longest paths need. */
const mostExtensions = 2 * siteLimits.entries * siteLimits.pathBytes;
/** The library copies a global header for each file, so it must be short. git writes 52 bytes. */
const longestGlobal = 1024;

interface WithExtensions extends Extract {
  _header: { readonly type: string };
  _decodeLongHeader(content: Uint8Array): void;
}

/** The library allocates 4 MiB for each extended header and has no setting to limit that. */
const withShortHeaders = (tar: Extract): Extract => {
  const open = tar as WithExtensions;
  const decode = open._decodeLongHeader.bind(open);
  let all = 0;
  open._decodeLongHeader = (content) => {
    all += content.length;
    const isGlobal = open._header.type === 'pax-global-header';
    const longest = isGlobal ? longestGlobal : longestExtension;
    if (content.length > longest || all > mostExtensions) {
      throw problem('archive_unreadable', 'Its tar headers are too long; pack the site again.');
    }
    decode(content);
  };
  return open;
};

async function* upToLargest(unpacked: AsyncIterable<Uint8Array>) {
  let bytes = 0;
  for await (const chunk of unpacked) {
    bytes += chunk.length;
    if (bytes > largestTar) {
      const most = `${String(largestTar / 1024 / 1024)} MiB`;
      throw problem('archive_too_large', `Unpacked, it is larger than ${most}.`);
    }
    yield chunk;
  }
}

/** Old archives mark folders only by a final slash. */
const kindOf = ({ type, name }: Header): EntryKind => {
  switch (type) {
    case 'file':
    case 'contiguous-file':
      return name.endsWith('/') ? 'folder' : 'file';
    case 'directory':
      return 'folder';
    case 'link':
    case 'symlink':
      return 'link';
    case 'block-device':
    case 'character-device':
    case 'fifo':
    default:
      return 'other';
  }
};

type Chunks = AsyncIterator<Uint8Array>;

/** The library's iterator would destroy the archive when a reader stops within a file. */
const withoutReturn = (chunks: Chunks): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => ({
    next: () =>
      chunks.next().catch((error: unknown) => {
        throw damaged(error);
      }),
  }),
});

const skipRest = async (chunks: Chunks): Promise<void> => {
  while (!(await chunks.next()).done);
};
