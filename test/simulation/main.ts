import { loadAll } from './replaced.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { drill } from './drills.ts';
import { LawBroken } from './laws.ts';
import { planStory } from './plan.ts';
import { shorten, type Failure } from './shorten.ts';
import { beginning, Simulation } from './simulation.ts';
import { readStory, textOf, type Story } from './story.ts';
import { dayMs } from './world/durations.ts';
import { endRealInterval, realElapsed, realInterval } from './world/machine.ts';

const {
  SEED = '1',
  DAYS,
  YEARS = '1',
  STORY,
  HISTORY,
  TELL,
  VERBOSE,
  SHRINK,
  SETTLE,
  INTO,
  DRILLS,
} = process.env;
const isOrderly = HISTORY === '1';

/** `2`, `1-4` and `2,1` are valid; the order is kept. */
const seedsOf = (text: string): readonly string[] =>
  text.split(',').flatMap((part) => {
    const [, first, last] = /^(\d+)-(\d+)$/.exec(part) ?? [];
    if (first === undefined || last === undefined) return [part];
    const count = Math.max(0, Number(last) - Number(first) + 1);
    return Array.from({ length: count }, (_, at) => String(Number(first) + at));
  });

const stories = (): readonly Story[] => {
  if (STORY !== undefined) return [readStory(readFileSync(STORY, 'utf8'))];
  const days = Number(DAYS ?? Math.round(Number(YEARS) * 365));
  return seedsOf(SEED).map((seed) => planStory(seed, { days, isOrderly }));
};

const showProgress = (simulation: Simulation, { seed, days }: Story) => {
  if (!process.stderr.isTTY) return () => undefined;
  const [begun, start] = [realElapsed(), simulation.time.now];
  const timer = realInterval(() => {
    const lived = (simulation.time.now - start) / dayMs;
    const perSecond = (lived * 1000) / (realElapsed() - begun);
    const steps = simulation.time.steps.toLocaleString('en');
    process.stderr.write(
      `\r\u001B[Kseed ${seed}: day ${lived.toFixed(1)} of ${String(days)}, ${perSecond.toFixed(1)} days a second, ${steps} steps`,
    );
  }, 500);
  return () => {
    endRealInterval(timer);
    process.stderr.write('\r\u001B[K');
  };
};

const tellLine = (line: string): void => {
  console.log(line);
};

interface Outcome {
  /** The reason of the failure. */
  readonly error: unknown;
  /** The number of days that it lived. */
  readonly days: number;
  readonly hash: string;
  readonly history: string | undefined;
}

/** Counts over all stories of this run. */
const reached = new Map<string, number>();

/** @returns the failure and what the story reached */
const run = async (story: Story): Promise<Outcome> => {
  const simulation = new Simulation(story.seed, {
    isOrderly,
    settles: SETTLE !== '0',
    ...(VERBOSE === '1' && { onLine: tellLine }),
  });
  const endProgress = showProgress(simulation, story);
  let error: unknown;
  try {
    await simulation.open();
    await simulation.live(story);
  } catch (reason) {
    error = reason;
  }
  endProgress();
  const days = (simulation.time.now - beginning) / dayMs;
  if (error !== undefined && VERBOSE === '1') console.log(error);
  const hash = simulation.hash();
  const history = isOrderly ? simulation.history() : undefined;
  for (const { what, count } of simulation.laws.reached())
    reached.set(what, (reached.get(what) ?? 0) + count);
  simulation.close();
  return { error, days, hash, history };
};

const failureOf = ({ error, days }: Outcome): Failure => ({ text: String(error), day: days });

const tellFailure = async (story: Story, outcome: Outcome): Promise<void> => {
  console.log(`seed ${story.seed}: ${String(outcome.error)}`);
  if (SHRINK === '0') return;
  const law = nameOf(outcome.error);
  const shortest = await shorten(story, failureOf(outcome), async (shorter) => {
    const other = await run(shorter);
    return other.error !== undefined && nameOf(other.error) === law ? failureOf(other) : undefined;
  });
  const file = INTO ?? `story-${story.seed}.txt`;
  const foundBy = `seed ${story.seed} of ${String(story.days)} days`;
  writeFileSync(file, `# law: ${law}\n# found by: ${foundBy}\n${textOf(shortest)}`);
  console.log(`${textOf(shortest)}\nRun it again with: make simulate STORY=${file}`);
};

/** The name of the law, without the facts of this case. */
const nameOf = (error: unknown): string => (error instanceof LawBroken ? error.law : String(error));

await loadAll();
if (TELL === '1') {
  for (const story of stories()) process.stdout.write(textOf(story));
  process.exit();
}
if (DRILLS === '1') {
  console.log('without  orders/h  backlog  names  lifetime  event');
  await drill({ names: 10, days: Number(DAYS ?? 60) }, (report) => {
    const { everWithout, mostOrdersAnHour, largestBacklog, names, lifetimeDays, event } = report;
    const numbers = [everWithout, mostOrdersAnHour, largestBacklog, names, lifetimeDays];
    console.log(`${numbers.map((one) => String(one).padStart(7)).join('  ')}  ${event}`);
  });
  process.exit();
}
for (const story of stories()) {
  const outcome = await run(story);
  const { error, hash, history } = outcome;
  const title = `seed ${story.seed}: ${String(story.days)} days`;
  if (history !== undefined) console.log(`${title}, in order\n${history}`);
  else if (error === undefined) console.log(`${title}, ${hash}`);
  if (error === undefined) continue;
  process.exitCode = 1;
  await tellFailure(story, outcome);
  if (INTO !== undefined) break;
}
if (!isOrderly)
  for (const [what, count] of reached) console.log(`${String(count).padStart(8)} ${what}`);
process.exit();
