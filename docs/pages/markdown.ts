/** Tells a reader of the page where its words come from. */
export const printed = (source: string) =>
  `<!-- Printed from ${source} by \`make docs\`. Change it there. -->`;

export const code = (word: string) => `\`${word}\``;
export const list = (words: readonly string[]) =>
  words.length > 0 ? words.map(code).join(', ') : 'none';

/** Parts with an empty line between them. */
export const page = (...parts: readonly string[]) => `${parts.join('\n\n')}\n`;

/** A table as the formatter of this project leaves it. */
export const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = heading.map((_, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(heading), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join(
    '\n',
  );
};
