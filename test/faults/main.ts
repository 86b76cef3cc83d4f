import { randomInt } from 'node:crypto';
import { type FaultReport, FaultRun } from './run-fault.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { catalogue } from './catalogue.ts';
import { faultDatabases, type FaultDatabase } from './fault-words.ts';

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

const faultTable = (reports: readonly FaultReport[]): string => {
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

// `make faults [KILLS=n] [SOAK=minutes] [ONLY=words of a name, of another one] [DATABASE=sqlite|mariadb|galera] [SEED=n]`: long; the
// short form is test/release/faults.test.ts.

const refuse = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(2);
};

const numberIn = (name: string): number | undefined => {
  const text = process.env[name] ?? '';
  if (text === '') return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  return refuse(`${name} must be a whole number, like 12; it is "${text}".`);
};

const databasesAsked = (): readonly FaultDatabase[] => {
  const text = process.env['DATABASE'] ?? '';
  if (text === '') return faultDatabases;
  const known = faultDatabases.filter((kind) => kind === text);
  return known.length > 0 ? known : refuse(`DATABASE must be one of ${faultDatabases.join(', ')}.`);
};

const started = performance.now();
const say = (text: string): void => {
  const seconds = String(Math.round((performance.now() - started) / 1000));
  process.stdout.write(`${seconds.padStart(5)} s  ${text}\n`);
};

const only = process.env['ONLY'] ?? '';
const isChosen = (name: string): boolean =>
  only.split(',').some((words) => name.toLowerCase().includes(words.trim().toLowerCase()));
const kinds = databasesAsked();
const chosen = kinds.flatMap((kind) =>
  catalogue
    .filter(({ name, databases }) => databases.includes(kind) && isChosen(name))
    .map((fault) => ({ fault, kind })),
);
if (chosen.length === 0) refuse(`No fault has "${only}" in its name.`);

const seed = numberIn('SEED') ?? randomInt(2 ** 31);
say(`seed ${seed}, ${chosen.length} faults`);
let now = '';
const run = new FaultRun({
  kills: numberIn('KILLS') ?? 1000,
  soakMinutes: numberIn('SOAK') ?? 10,
  random: seededRandom(seed),
  tell: (progress) => {
    say(`${now}: ${progress}`);
  },
});

/** Servers, folders and mounts are removed however the run ends. */
const finish = async (code: number): Promise<never> => {
  if (run.reports.length > 0) process.stdout.write(`\n${faultTable(run.reports)}\n`);
  await run.close().catch((error: unknown) => {
    say(`ending what was started failed: ${String(error)}`);
  });
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say('interrupted: ending what was started …');
    void finish(130);
  });
}

for (const { fault, kind } of chosen) {
  now = `${fault.name}, ${kind}`;
  const { complaints, acknowledged, note } = await run.run(fault, kind);
  const verdict = complaints.length === 0 ? 'ok' : `FAILED: ${complaints.join('; ')}`;
  say(`${now}: ${verdict} (${acknowledged} writes${note === '' ? '' : `; ${note}`})`);
}
await finish(run.reports.some(({ complaints }) => complaints.length > 0) ? 1 : 0);
