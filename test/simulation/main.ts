import { writeFileSync, readFileSync } from 'node:fs';
import { realElapsed, replaceGlobals } from './world/globals.ts';
import { Dead, replaceSqlite } from './world/disk.ts';

const realInterval = setInterval;
const endRealInterval = clearInterval;
replaceSqlite();
replaceGlobals();
const { loadAll } = await import('./preload.ts');
await loadAll();
const { planStory } = await import('./plan.ts');
const { Simulation } = await import('./simulation.ts');
const { LawBroken } = await import('./laws.ts');
const { readStory, shrink, textOf } = await import('./story.ts');
type Story = Awaited<ReturnType<typeof readStory>>;

const { SEED = '1', DAYS, YEARS = '1', STORY, HISTORY, VERBOSE } = process.env;
const isOrderly = HISTORY === '1';
const dayMs = 86_400_000;

/** `2`, `1-4` and `2,1`: in this order. */
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

const showProgress = (simulation: InstanceType<typeof Simulation>, { seed, days }: Story) => {
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

// What a dead process would have handled.
process.on('unhandledRejection', (reason) => {
  if (!(reason instanceof Dead)) throw reason;
});

interface Outcome {
  /** Why it failed. */
  readonly error: unknown;
  readonly hash: string;
}

/** @returns what went wrong, with what the story came to */
const run = async (story: Story): Promise<Outcome> => {
  const simulation = new Simulation(story.seed, {
    isOrderly,
    ...(VERBOSE === '1' && { onLine: (line: string) => void console.log(line) }),
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
  if (error !== undefined && VERBOSE === '1') console.log(error);
  const hash = simulation.hash();
  simulation.close();
  return { error, hash };
};

const tellFailure = async (story: Story, error: unknown): Promise<void> => {
  console.log(`seed ${story.seed}: ${String(error)}`);
  // What somebody has written down is short already.
  if (STORY !== undefined) return;
  const isSame = async (shorter: Story): Promise<boolean> => {
    const other = await run(shorter);
    return other.error !== undefined && nameOf(other.error) === nameOf(error);
  };
  const shortest = await shrink(story, isSame);
  const file = `story-${story.seed}.txt`;
  writeFileSync(file, textOf(shortest));
  console.log(`${textOf(shortest)}\nRun it again with: make simulate STORY=${file}`);
};

/** The law, without what it says of this case. */
const nameOf = (error: unknown): string => (error instanceof LawBroken ? error.law : String(error));

for (const story of stories()) {
  const { error, hash } = await run(story);
  if (error === undefined) console.log(`seed ${story.seed}: ${String(story.days)} days, ${hash}`);
  else {
    process.exitCode = 1;
    await tellFailure(story, error);
  }
}
process.exit();
