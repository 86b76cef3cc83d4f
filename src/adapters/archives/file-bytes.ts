import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 64 * 1024;

/**
 * A part of a file, fewer bytes where the file ends before. Holds nothing while nobody reads: it may be dropped
 * half-read, and the file closed.
 */
export async function* bytesOf(
  handle: FileHandle,
  first = 0,
  length = Infinity,
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = first + length;
  for (let position = first; position < end;) {
    const buffer = new Uint8Array(Math.min(chunkBytes, end - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
