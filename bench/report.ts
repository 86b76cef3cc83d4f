export interface Report {
  readonly heading: string;
  /** Printable lines with the measurements. */
  readonly lines: readonly string[];
  readonly targets: readonly Target[];
}

export interface Target {
  readonly what: string;
  readonly value: string;
  readonly wanted: string;
  readonly isMet: boolean;
}

/** The required value of a number. The unit is printed after every number. */
export interface Wanted {
  readonly kind: 'at least' | 'at most';
  readonly limit: number;
  readonly unit: string;
}

export const atLeast = (limit: number, unit = ''): Wanted => ({ kind: 'at least', limit, unit });
export const atMost = (limit: number, unit = ''): Wanted => ({ kind: 'at most', limit, unit });

/** A value that is not a number, such as 0 / 0, misses every target. */
export const target = (what: string, value: number, { kind, limit, unit }: Wanted): Target => ({
  what,
  value: inUnit(value, unit),
  wanted: `${kind} ${String(limit)}${spaced(unit)}`,
  isMet: kind === 'at least' ? value >= limit : value <= limit,
});

const inUnit = (value: number, unit: string): string =>
  value.toFixed(decimalsFor(Math.abs(value))) + spaced(unit);

const decimalsFor = (size: number): number => {
  if (size < 10) return 2;
  return size < 100 ? 1 : 0;
};

const spaced = (unit: string): string => (unit === '' ? '' : ` ${unit}`);

export const printedReport = ({ heading, lines, targets }: Report): string =>
  [heading, ...lines.map((line) => `  ${line}`), ...targets.map((one) => `  ${verdict(one)}`), '']
    .map((line) => `${line}\n`)
    .join('');

const verdict = ({ what, value, wanted, isMet }: Target): string =>
  `${isMet ? 'met   ' : 'MISSED'} ${what}: ${value} (wanted: ${wanted})`;

/** Prints all targets of a run in one table and lists the missed ones. */
export const printedTargets = (targets: readonly Target[]): string => {
  const rows = [
    ['target', 'wanted', 'seen', ''],
    ...targets.map(({ what, value, wanted, isMet }) => [
      what,
      wanted,
      value,
      isMet ? 'met' : 'MISSED',
    ]),
  ];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const missed = targets.filter((one) => !one.isMet);
  const summary = `${String(missed.length)} of ${String(targets.length)} targets missed`;
  const names = missed.map((one) => `  ${one.what}`);
  return [...table, '', summary + (names.length > 0 ? ':' : ''), ...names, ''].join('\n');
};
