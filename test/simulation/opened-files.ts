import { loadAll } from './replaced.ts';
import { Session, type Profiler } from 'node:inspector';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import SqliteDatabase from 'better-sqlite3';
import { Simulation } from './simulation.ts';
import { turnWeather, type Part } from './weather.ts';
import { hourMs, minuteMs } from './world/durations.ts';

// Prints which files of src a newcomer opens to follow three flows in virtual time. A file counts if one of its
// functions ran. Fails if a flow opens more files than its limit. Lower a limit when files merge; raise it only with a
// reason.
const limits = {
  'A request that creates an animal': 36,
  'A domain from Add until it is live': 87,
  'A failed renewal until its owner is notified': 70,
} as const;

const root = join(fileURLToPath(new URL('../..', import.meta.url)), 'src/');
const session = new Session();
session.connect();

const ranSince = (): readonly string[] => {
  let scripts: readonly Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    scripts = result;
  });
  return scripts
    .filter(({ url }) => url.startsWith(`file://${root}`))
    .filter(({ functions }) => functions.some(hasRun))
    .map(({ url }) => fileURLToPath(url).slice(root.length))
    .toSorted();
};

/** The first function is the script itself, which runs when it is loaded, so it does not count. */
const hasRun = ({ functionName, ranges }: Profiler.FunctionCoverage): boolean =>
  !(functionName === '' && ranges[0]?.startOffset === 0) && (ranges[0]?.count ?? 0) > 0;

const simulation = new Simulation('1', { isOrderly: true });
const { time, world, owners, weather } = simulation;

interface Flow {
  /** Files are counted once this returns true. */
  readonly hasBegun?: () => boolean;
  readonly isOver: () => boolean;
}

/** Runs a flow and lists the files in the order in which they are first needed. */
const follow = async (name: keyof typeof limits, flow: Flow): Promise<void> => {
  const { hasBegun = () => true, isOver } = flow;
  const deadline = time.now + hourMs;
  const opened = new Set<string>();
  let [begun, moment] = [false, time.now];
  ranSince();
  await time.run(() => {
    if (!begun && time.now > moment) opened.clear();
    moment = time.now;
    begun ||= hasBegun();
    for (const file of ranSince()) opened.add(file);
    if (time.now > deadline) throw new Error(`${name}: not over after an hour`);
    return isOver();
  });
  const [count, limit] = [opened.size, limits[name]];
  console.log(`${name}: ${String(count)} files, at most ${String(limit)}`);
  for (const file of opened) console.log(`  ${file}`);
  if (count > limit) process.exitCode = 1;
};

const pass = async (ms: number): Promise<void> => {
  const until = time.now + ms;
  await time.run(() => time.now >= until);
};

const act = (...words: readonly string[]): (() => boolean) => {
  let isDone = false;
  void owners.act('north', words).then(() => {
    isDone = true;
  });
  return () => isDone;
};

const turn = (part: Part, object: string, condition: string): void => {
  turnWeather(world, weather, [part, object, condition]);
};

const finder = (sql: string): (() => boolean) => {
  const statement = stored.prepare(sql);
  return () => statement.get() !== undefined;
};

await loadAll();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await simulation.open();
const stored = new SqliteDatabase(simulation.databaseFile, { readonly: true });

await time.run(act('sells'));
// The hourly jobs run during this flow and not during the next.
await pass(90 * minuteMs + 10_500);
await time.run(act('sells'));
await pass(3_000);
await follow('A request that creates an animal', { isOver: act('sells') });

await pass(2 * minuteMs);
const host = 'north.test';
const adding = act('adds', host);
let isPublished: (() => boolean) | undefined;
const isLive = finder(`select 1 from domains where host = '${host}' and state = 'live'`);
await follow('A domain from Add until it is live', {
  isOver: () => {
    if (adding()) isPublished ??= act('publishes', host);
    return isPublished?.() === true && isLive();
  },
});

for (const authority of ['one', 'two']) turn('authority', authority, 'away');
const failures = `details ->> '$.certificate.work.attempts.failed'`;
const hasFailed = (times: number): (() => boolean) =>
  finder(`select 1 from domains where host = '${host}' and ${failures} = ${String(times)}`);
await time.run(hasFailed(2));
const kind = 'certificate.failing';
const isNoticed = finder(`select 1 from notices where kind = '${kind}'`);
const isMailed = (): boolean =>
  world.mail.taken.some(({ told }) => told.some((one) => one.kind === kind));
const isCalled = (): boolean => world.receivers.received.some(({ type }) => type === kind);
await follow('A failed renewal until its owner is notified', {
  hasBegun: hasFailed(3),
  isOver: () => isNoticed() && isMailed() && isCalled(),
});

stored.close();
simulation.close();
process.exit();
