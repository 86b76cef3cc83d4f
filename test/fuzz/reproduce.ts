import type { BytesCase, FuzzCase } from './fuzz-case.ts';
import { type FuzzField, openFuzzField } from './fuzz-field.ts';
import { judge, ServiceWitness, verifyMangled } from './judge.ts';
import type { Finding } from './run-fuzz.ts';
import { send } from './send.ts';

const mostTries = 60;

/**
 * Leaves out whatever is not needed to fail: pieces, lines, then ever shorter stretches of bytes.
 * @param fails whether a case still fails
 */
const shrink = async (
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

/** Finds which case alone leads to a finding, and makes it as small as it gets. @returns undefined when none does */
export const reproduce = async (
  { what, cases }: Finding,
  domains: number,
): Promise<FuzzCase | undefined> => {
  let field = await openFuzzField(domains);
  const fails = async (one: FuzzCase): Promise<boolean> => {
    if (field.service.hasEnded()) {
      await field.close();
      field = await openFuzzField(domains);
    }
    return sortOf(await problemOf(one, field)) === sortOf(what);
  };
  try {
    for (const one of cases.toReversed()) {
      if (!(await fails(one))) continue;
      return 'pieces' in one ? await shrink(one, fails) : one;
    }
    return undefined;
  } finally {
    await field.close();
  }
};

const sortOf = (what: string | undefined): string | undefined => what?.split(':')[0];

const problemOf = async (one: FuzzCase, field: FuzzField): Promise<string | undefined> => {
  const witness = new ServiceWitness(field);
  const said =
    one.target === 'DNS answers' ? await verifyMangled(one, field) : await answered(one, field);
  return said ?? (await witness.lastComplaint());
};

/** Alone, a service answers at once. */
const shortMs = 5_000;

const answered = async (one: BytesCase, field: FuzzField): Promise<string | undefined> =>
  judge(one, await send(one, field, shortMs), field);

/** For a bug report: text that JavaScript reads back. */
export const showCase = (one: FuzzCase): string => {
  const text = JSON.stringify(one, undefined, 1).replace(
    /(.{1,40}?)\1{9,}/g,
    (all, part: string) => `${part}… ${String(all.length / part.length)} times …`,
  );
  return text.length > 4000 ? `${text.slice(0, 4000)}… (${String(text.length)} characters)` : text;
};
