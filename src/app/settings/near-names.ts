const leastLetters = 8;
const mostWrong = 2;

/** Variables that are nearly a setting, one sentence each. Without it nobody would notice that they have no effect. */
export const nearNames = (
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): readonly string[] =>
  Object.keys(environment)
    .filter((name) => name.length >= leastLetters && !settings.includes(name))
    .flatMap((name) => {
      const meant = settings.find((one) => differingLetters(name.toUpperCase(), one) <= mostWrong);
      return meant === undefined
        ? []
        : [`${name} is not a setting and has no effect. Did you mean ${meant}?`];
    });

/** Letters to add, leave out or change (Levenshtein). */
const differingLetters = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [place, wanted] of [...other].entries()) {
      const changed = (row[place] ?? 0) + (letter === wanted ? 0 : 1);
      next.push(Math.min(changed, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
};
