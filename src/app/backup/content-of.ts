import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Content } from './manifest.ts';

/** A content is missing, or is not what was stored. */
export class DamagedContent extends Error {
  override readonly name = 'DamagedContent';
}

export const contentOf = async (path: string): Promise<Content> => {
  const sum = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    sum.update(piece);
    bytes += piece.length;
  }
  return { sha256: sum.digest('hex'), bytes };
};
