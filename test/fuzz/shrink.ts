import type { BytesCase } from './fuzz-case.ts';

const mostTries = 60;

/**
 * Leaves out whatever is not needed to fail: pieces, lines, then ever shorter stretches of bytes.
 * @param fails whether a case still fails
 */
export const shrink = async (
  one: BytesCase,
  fails: (smaller: BytesCase) => Promise<boolean>,
): Promise<BytesCase> => {
  let smallest = one;
  let tries = 0;
  const attempt = async (pieces: readonly string[]): Promise<boolean> => {
    if (tries++ >= mostTries) return false;
    const smaller: BytesCase = { ...smallest, pieces };
    if (!(await fails(smaller))) return false;
    smallest = smaller;
    return true;
  };
  await without(
    () => smallest.pieces,
    (all) => all,
    attempt,
  );
  for (const cut of [lines, halves, halves]) {
    for (let at = 0; at < smallest.pieces.length; at++) {
      const replace = (piece: string) =>
        smallest.pieces.map((own, own_) => (own_ === at ? piece : own));
      await without(
        () => cut(smallest.pieces[at] ?? ''),
        (parts) => replace(parts.join('')),
        attempt,
      );
    }
  }
  return smallest;
};

/** Tries to leave out each part, the last first. */
const without = async (
  parts: () => readonly string[],
  put: (parts: readonly string[]) => readonly string[],
  attempt: (pieces: readonly string[]) => Promise<boolean>,
): Promise<void> => {
  for (let at = parts().length - 1; at >= 0 && parts().length > 1; at--) {
    await attempt(put(parts().filter((_, own) => own !== at)));
  }
};

const lines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+/g) ?? [];

const halves = (text: string): readonly string[] => {
  const size = Math.max(1, Math.ceil(text.length / 8));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
};
