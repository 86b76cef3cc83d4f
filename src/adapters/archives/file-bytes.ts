import type { FileHandle } from 'node:fs/promises';

const chunkBytes = 64 * 1024;

/**
 * A part of a file, shorter if the file ends before. Holds no resource between reads, so it may be abandoned half-read
 * and the file closed.
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
