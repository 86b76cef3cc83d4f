export const code = (word: string) => `\`${word}\``;
export const list = (words: readonly string[]) =>
  words.length > 0 ? words.map(code).join(', ') : 'none';

/** A hand-written cell of the page, found by the first cell of its row. */
export const byHand = undefined;

type Row = readonly (string | typeof byHand)[];
/** Prints the content below a `<!-- printed: NAME -->`, given the present content. */
export type Printed = (before: string, place: string) => string;

/** A table in the format of this project's formatter. */
export const table =
  (heading: readonly string[], rows: readonly Row[]): Printed =>
  (before, place) => {
    const written = new Map(before.split('\n').map((line) => [cellsOf(line)[0], cellsOf(line)]));
    const whole = rows.map((row) =>
      row.map((cell, column) => {
        const text = cell ?? written.get(row[0])?.[column];
        if (text !== undefined && text !== '') return text;
        throw new Error(
          `${place} has no "${heading[column] ?? ''}" for ${row[0] ?? ''}: add a row for it`,
        );
      }),
    );
    return aligned(heading, whole);
  };

const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

const aligned = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = heading.map((_, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(heading), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join(
    '\n',
  );
};

/** Text between fences, in the language if one is given. */
export const fenced =
  (lines: readonly string[], language = ''): Printed =>
  () =>
    ['```' + language, ...lines, '```'].join('\n');

/** In the largest unit that fits: "30 days", "100 minutes". */
export const span = (milliseconds: number): string => {
  const units = { day: 86_400_000, hour: 3_600_000, minute: 60_000, second: 1000 };
  const fits = Object.entries(units).find(([, length]) => milliseconds % length === 0);
  if (!fits) throw new Error(`no unit fits ${String(milliseconds)} ms`);
  const count = milliseconds / fits[1];
  return `${String(count)} ${fits[0]}${count === 1 ? '' : 's'}`;
};
