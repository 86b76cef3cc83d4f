import { availableParallelism } from 'node:os';
import startServers from '../support/servers/start-servers.ts';
import stopServers from '../support/servers/stop-servers.ts';
import { copyProject, type CopiedProject } from './copied-project.ts';
import { mayBeSeenBy, readPlants, sees, type Plant, type RanTest } from './plant.ts';

// `make plants [ONLY=words of a name or law, of another one]` takes some minutes and works on copies of the
// work tree.

const started = performance.now();
const secondsSince = (from: number): number => (performance.now() - from) / 1000;
const say = (text: string): void => {
  process.stdout.write(`${String(Math.round(secondsSince(started))).padStart(5)} s  ${text}\n`);
};

const only = process.env['ONLY'] ?? '';
const isChosen = ({ name, law }: Plant): boolean =>
  only
    .split(',')
    .some((words) => `${name}\n${law}`.toLowerCase().includes(words.trim().toLowerCase()));
const plants = (await readPlants()).filter(isChosen);
if (plants.length === 0) {
  process.stderr.write(`No planted fault has "${only}" in its name or law.\n`);
  process.exit(2);
}

const copying: Promise<CopiedProject>[] = [];
const finish = async (code: number): Promise<never> => {
  const removing = copying.map(async (copy) => (await copy).remove());
  await Promise.all([...removing, stopServers()]).catch((error: unknown) => {
    say(`removing what was made failed: ${String(error)}`);
  });
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say('interrupted: removing what was made …');
    void finish(130);
  });
}

interface Report {
  readonly plant: Plant;
  readonly seconds: number;
  /** The titles of the tests that failed because of the plant. */
  readonly seenBy: readonly string[];
  /** The reason why this does not prove the law; undefined if it does. */
  readonly fault: string | undefined;
}

const beginningOf = (text: string): string => text.trim().slice(0, 500);
const titlesOf = (tests: readonly RanTest[]): readonly string[] => tests.map(({ title }) => title);

/** @returns undefined if a test that passes without the plant could see it */
const faultBefore = (plant: Plant, unharmed: readonly RanTest[]): string | undefined => {
  const tests = unharmed.filter(
    (test) => mayBeSeenBy(plant, test) && ['passed', 'failed'].includes(test.status),
  );
  if (tests.length === 0)
    return `no test in ${plant.files.source} has "${plant.title}" in its title`;
  const failed = tests.filter(({ status }) => status === 'failed');
  return failed.length > 0
    ? `fails without the plant too: ${titlesOf(failed).join('; ')}`
    : undefined;
};

const tryPlant = async (copy: CopiedProject, plant: Plant): Promise<Omit<Report, 'seconds'>> => {
  try {
    await copy.apply(plant.patch);
  } catch (error) {
    return { plant, seenBy: [], fault: `does not apply: ${beginningOf(String(error))}` };
  }
  const { tests, said } = await copy.test([plant.files], [plant.title]);
  await copy.takeBack(plant.patch);
  const seenBy = titlesOf(tests.filter((test) => mayBeSeenBy(plant, test) && sees(test)));
  if (seenBy.length > 0) return { plant, seenBy, fault: undefined };
  const isRun = tests.some(({ status }) => status === 'passed');
  return {
    plant,
    seenBy,
    fault: isRun ? 'not seen' : `broken rather than seen: ${beginningOf(said)}`,
  };
};

const lineOf = ({ plant, seenBy, fault, seconds }: Report): string => {
  const [first, ...others] = seenBy;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const verdict = fault === undefined ? `seen by: ${first ?? ''}${more}` : `FAILED: ${fault}`;
  return `${plant.name}, ${seconds.toFixed(1)} s: ${plant.law}\n${' '.repeat(9)}${verdict}`;
};

const tableOf = (reports: readonly Report[]): string => {
  const longest = Math.max(...reports.map(({ plant }) => plant.name.length));
  const row = ({ plant, seconds, fault, seenBy }: Report): string =>
    [
      plant.name.padEnd(longest),
      seconds.toFixed(1).padStart(6),
      fault === undefined ? (seenBy[0] ?? '') : `FAILED: ${fault.split('\n', 1)[0] ?? ''}`,
    ].join('  ');
  return reports
    .toSorted((one, other) => one.plant.name.localeCompare(other.plant.name))
    .map(row)
    .join('\n');
};

const lanes = Math.min(availableParallelism(), plants.length);
say(`${plants.length} planted faults; copying the project and starting the servers …`);
await startServers();
for (let lane = 0; lane < lanes; lane++) copying.push(copyProject());
const copies = await Promise.all(copying);
say('running the tests without any plant …');
const { tests: unharmed, said } = await copies[0]!.test(
  plants.map(({ files }) => files),
  plants.map(({ title }) => title),
  { workers: lanes },
);
if (unharmed.length === 0) say(said);

const reports: Report[] = [];
const waiting = [...plants];
const work = async (copy: CopiedProject): Promise<void> => {
  for (let plant = waiting.shift(); plant; plant = waiting.shift()) {
    const from = performance.now();
    const before = faultBefore(plant, unharmed);
    const tried =
      before === undefined ? await tryPlant(copy, plant) : { plant, seenBy: [], fault: before };
    const report = { ...tried, seconds: secondsSince(from) };
    reports.push(report);
    say(lineOf(report));
  }
};
await Promise.all(copies.map(work));
const missed = reports.filter(({ fault }) => fault !== undefined).length;
process.stdout.write(`\n${tableOf(reports)}\n\n`);
say(`${reports.length - missed} of ${reports.length} planted faults are seen`);
await finish(missed > 0 ? 1 : 0);
