import type { FaultReport } from './run-fault.ts';

const columns = [
  'fault',
  'database',
  'writes',
  'lost',
  'doubled',
  'unexpected',
  'recovery',
  'longest answer',
  '/healthz',
  'took',
  'verdict',
] as const;

/** For people, in columns, with the complaints below. */
export const faultTable = (reports: readonly FaultReport[]): string => {
  const rows = [columns, ...reports.map(cellsOf)];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, at) => pad(cell, widths[at] ?? 0, at)).join('  '));
  return [...lines, ...reports.flatMap(notesOf)].join('\n');
};

const wordColumns = 2;

const pad = (cell: string, width: number, at: number): string =>
  at < wordColumns || at === columns.length - 1 ? cell.padEnd(width) : cell.padStart(width);

const cellsOf = (report: FaultReport): readonly string[] => {
  const { fault, database, acknowledged, lost, doubled, unexpected } = report;
  const { recoveryMs, longestAnswerMs, longestHealthMs, tookMs } = report;
  return [
    ...[fault, database],
    ...[acknowledged, lost, doubled, unexpected].map(String),
    ...[recoveryMs, longestAnswerMs].map(inSeconds),
    longestHealthMs === undefined ? '–' : `${Math.round(longestHealthMs)} ms`,
    inSeconds(tookMs),
    report.complaints.length === 0 ? 'ok' : 'FAILED',
  ];
};

const inSeconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

const notesOf = ({ fault, database, note, complaints }: FaultReport): readonly string[] => [
  ...(note === '' ? [] : [`${fault}, ${database}: ${note}`]),
  ...complaints.map((one) => `FAILED ${fault}, ${database}: ${one}`),
];
