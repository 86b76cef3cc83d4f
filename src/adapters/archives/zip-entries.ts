import { isUtf8 } from 'node:buffer';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import {
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  type Entry,
  type ZipFile,
} from 'yauzl';
import type { EntryKind } from '../../sites/domain/site-contents.ts';
import type { SourceEntry } from '../../sites/ports.ts';
import { bytesOf, damaged, unsupported } from './archive-bytes.ts';

export async function* zipEntries(path: string): AsyncGenerator<SourceEntry, void, undefined> {
  const handle = await open(path);
  try {
    const zip = await directoryOf(handle);
    for await (const entry of zip.eachEntry()) {
      const name = nameOf(entry);
      yield { path: name, kind: kindOf(entry, name), content: contentOf(handle, zip, entry) };
    }
  } catch (error) {
    throw brokenZip(error);
  } finally {
    await handle.close();
  }
}

/** @returns undefined for a broken archive, which throws when it is read */
export const countZipEntries = (handle: FileHandle): Promise<number | undefined> =>
  directoryOf(handle).then(
    ({ entryCount }) => entryCount,
    () => undefined,
  );

/** The domain checks names. The library would rewrite backslashes and stop at "..". */
const directoryOf = async (handle: FileHandle): Promise<ZipFile> => {
  const { size } = await handle.stat();
  return fromRandomAccessReaderPromise(new HandleReader(handle), size, {
    autoClose: false,
    decodeStrings: false,
  });
};

/** Unlike the library's reader, it rejects offsets above 2^53. The caller closes the handle. */
class HandleReader extends RandomAccessReader {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    super();
    this.#handle = handle;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const reading = this.#handle.read(buffer, offset, length, position);
    void reading.then(({ bytesRead }) => {
      callback(bytesRead < length ? new Error('cut off') : null);
    }, callback);
  }
}

/** macOS writes UTF-8 without setting the flag. Other names are in code page 437. */
const nameOf = ({ fileNameRaw, generalPurposeBitFlag: flags, extraFields }: Entry): string =>
  getFileNameLowLevel(isUtf8(fileNameRaw) ? flags | 0x800 : flags, fileNameRaw, extraFields, true);

/** The top bits are the Unix file type, or zero if the archive was made on another system. */
const kindOf = ({ externalFileAttributes }: Entry, name: string): EntryKind => {
  switch (externalFileAttributes >>> 28) {
    case 0:
    case 0o10:
      return name.endsWith('/') ? 'folder' : 'file';
    case 0o04:
      return 'folder';
    case 0o12:
      return 'link';
    default:
      return 'other';
  }
};

async function* contentOf(handle: FileHandle, zip: ZipFile, entry: Entry) {
  if (!entry.canDecodeFileData())
    throw unsupported('The archive is encrypted, or uses an unusual compression');
  try {
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    const packed = bytesOf(handle, fileDataStart, entry.compressedSize);
    yield* checked(entry.compressionMethod === 0 ? packed : inflated(packed), entry);
  } catch (error) {
    throw brokenZip(error);
  }
}

const inflated = (packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => {
  const inflate = createInflateRaw({ rejectGarbageAfterEnd: true });
  return pipeline(packed, inflate, () => undefined);
};

async function* checked(content: AsyncIterable<Uint8Array>, entry: Entry) {
  let bytes = 0;
  let sum = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > entry.uncompressedSize) throw new Error('more than announced');
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (bytes !== entry.uncompressedSize || sum !== entry.crc32) throw new Error('not as announced');
}

/** The library has no error codes; it says "not supported" for strong encryption and split archives. */
const brokenZip = (error: unknown): unknown =>
  error instanceof Error && error.message.includes('not supported')
    ? unsupported('The archive is encrypted or split')
    : damaged(error);
