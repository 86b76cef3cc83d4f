import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { SiteInspection } from '../../sites/domain/site-contents.ts';
import { bytesOf, unreadable } from './archive-bytes.ts';
import { archiveSource, folderSource } from './open-upload.ts';

/** A site as one archive. Each read gives the same bytes while no file changes. */
export interface PackedSite {
  readonly type: 'application/gzip' | 'application/zip';
  /** Total size of the files before compression. */
  readonly bytes: number;
  /** @throws DomainError `archive_unreadable` */
  readonly read: (onRead: (bytes: number) => void) => AsyncIterable<Uint8Array>;
}

/** Packs a folder or archive for upload. @throws DomainError that says why a service would refuse it */
export const packSite = async (place: string): Promise<PackedSite> => {
  const found = await stat(place);
  return found.isDirectory() ? packFolder(place) : readArchive(place, found.size);
};

const readArchive = async (path: string, bytes: number): Promise<PackedSite> => {
  await archiveSource(path);
  return {
    type: (await startOf(path)) === 'PK' ? 'application/zip' : 'application/gzip',
    bytes,
    read: (onRead) => counted(fileIn(path), onRead),
  };
};

const startOf = async (path: string): Promise<string> => {
  const handle = await open(path);
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString();
  } finally {
    await handle.close();
  }
};

async function* counted(content: AsyncIterable<Uint8Array>, onRead: (bytes: number) => void) {
  for await (const piece of content) {
    onRead(piece.length);
    yield piece;
  }
}

async function* fileIn(path: string) {
  const handle = await open(path);
  try {
    yield* bytesOf(handle);
  } finally {
    await handle.close();
  }
}

interface PackedFile {
  readonly path: string;
  readonly size: number;
}

const packFolder = async (root: string): Promise<PackedSite> => {
  const inspection = new SiteInspection();
  const files: PackedFile[] = [];
  for await (const { path, kind } of (await folderSource(root)).entries) {
    if (inspection.admit(path, kind) === undefined) continue;
    const { size } = await stat(join(root, path));
    inspection.count(size);
    files.push({ path, size });
  }
  const { bytes } = inspection.finish();
  return { type: 'application/gzip', bytes, read: (onRead) => packed(root, files, onRead) };
};

async function* packed(
  root: string,
  files: readonly PackedFile[],
  onRead: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [tar, gzip] = [pack(), createGzip()];
  const filled = fill(tar, root, files, onRead);
  filled.catch((error: unknown) => {
    tar.destroy(error as Error);
  });
  const zipped = pipeline(tar, gzip);
  zipped.catch(() => undefined);
  try {
    yield* gzip as AsyncIterable<Uint8Array>;
    await Promise.all([filled, zipped]);
  } finally {
    tar.destroy();
  }
}

const fill = async (
  tar: Pack,
  root: string,
  files: readonly PackedFile[],
  ...[onRead]: readonly [(bytes: number) => void]
): Promise<void> => {
  for (const { path, size } of files) {
    // The file's own time is omitted, so that a retry sends the same bytes.
    const entry = tar.entry({ name: path, size, mode: 0o644, mtime: new Date(0) });
    try {
      await pipeline(Readable.from(counted(fileIn(join(root, path)), onRead)), entry);
    } catch (error) {
      throw unreadable(path, error);
    }
  }
  tar.finalize();
};
