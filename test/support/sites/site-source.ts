import type { EntryKind } from '../../../src/sites/domain/site-contents.ts';
import type { SiteSource, SourceEntry } from '../../../src/sites/ports.ts';

/** The whole stream in one piece. */
export const allOf = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const chunks = [];
  for await (const chunk of content) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
};

/** Content in the given pieces, each in its own turn of the event loop. */
export async function* inPieces(...pieces: readonly (string | Uint8Array)[]) {
  for (const piece of pieces) yield await Promise.resolve(new Uint8Array(Buffer.from(piece)));
}

/** Content that breaks off after its first piece. */
export async function* brokenOff(error: Error) {
  yield* inPieces('the first piece');
  throw error;
}

export const entry = (
  path: string,
  content: string | Uint8Array | AsyncIterable<Uint8Array> = `this is ${path}`,
  kind: EntryKind = 'file',
): SourceEntry => ({
  path,
  kind,
  content:
    typeof content === 'string' || content instanceof Uint8Array ? inPieces(content) : content,
});

async function* inOrder<T>(things: Iterable<T>) {
  for (const thing of things) yield await Promise.resolve(thing);
}

export const sourceOf = (...entries: readonly SourceEntry[]): SiteSource => ({
  entries: inOrder(entries),
  total: entries.length,
});
