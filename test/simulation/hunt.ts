import { writeFileSync } from 'node:fs';
import { replaceGlobals } from './world/globals.ts';
import { realElapsed } from './world/machine.ts';
import { replaceSqlite } from './world/disk.ts';

// `SEED=1-200 DAYS=4 INTO=story.txt node test/simulation/hunt.ts`: the first seed whose story breaks a law, made short. Laws that are
// asked only after weeks of good weather are left out, unless SETTLED=1.

replaceSqlite();
replaceGlobals();
const { loadAll } = await import('./preload.ts');
await loadAll();
const { planStory } = await import('./plan.ts');
const { Simulation } = await import('./simulation.ts');
const { LawBroken } = await import('./laws.ts');
const { shrink, textOf } = await import('./story.ts');
type Story = ReturnType<typeof planStory>;

const { SEED = '1-200', DAYS = '4', INTO, MINUTES = '5', SETTLED } = process.env;
const dayMs = 86_400_000;
const longestMs = Number(MINUTES) * 60_000;

const seedsOf = (text: string): readonly string[] =>
  text.split(',').flatMap((part) => {
    const [first = 1, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => String(first + at));
  });

interface Fall {
  /** The name of the law, or what was thrown. */
  readonly law: string;
  readonly text: string;
  /** When, in days since the beginning of the story. */
  readonly day: number;
}

class Cleared extends Error {}

/** @returns undefined when no law is broken */
const fallOf = async (story: Story): Promise<Fall | undefined> => {
  const simulation = new Simulation(story.seed);
  if (SETTLED !== '1') {
    simulation.laws.weatherCleared = () => {
      throw new Cleared();
    };
  }
  let begun = 0;
  try {
    await simulation.open();
    begun = simulation.time.now;
    await simulation.live(story);
    return undefined;
  } catch (error) {
    if (error instanceof Cleared) return undefined;
    const law = error instanceof LawBroken ? error.law : String(error).slice(0, 80);
    return { law, text: String(error), day: (simulation.time.now - begun) / dayMs };
  } finally {
    simulation.close();
  }
};

/** Without the days after the fall. */
const endedAt = (story: Story, day: number): Story => ({
  ...story,
  days: Math.min(story.days, Math.ceil(day)),
  steps: story.steps.filter(({ at }) => at <= day * dayMs),
});

type Step = Story['steps'][number];

/** Of the same part of the world, so that they are left out together. */
const partOf = ({ who, words }: Step): string =>
  [who, ...(who === 'weather' ? words.slice(0, 2) : words.slice(1, 2).filter(isHost))].join(' ');

const isHost = (word: string): boolean => word.includes('.');

/** First what is large, and seldom matters. @param fall tells of which name the law is broken */
const partsOf = ({ steps }: Story, { text }: Fall): readonly ((step: Step) => boolean)[] => {
  const parts = [...Map.groupBy(steps, partOf)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  return [
    ({ who }) => who === 'weather',
    ({ words }) => !words.some((word) => isHost(word) && text.includes(` ${word};`)),
    ({ who, words }) =>
      who !== 'weather' && words.some(isHost) && !words.some((word) => text.includes(` ${word};`)),
    ({ words: [verb = ''] }) => verb === 'dies' || verb === 'shows',
    ({ words: [verb = ''] }) => verb === 'shows',
    ({ words: [verb = ''] }) =>
      ['sells', 'bursts', 'deploys', 'rotates', 'turns', 'takes', 'allows'].includes(verb),
    ...parts.map(
      ([part]) =>
        (step: Step) =>
          partOf(step) === part,
    ),
  ];
};

/** Leaves out whole parts. */
const withoutParts = async (
  story: Story,
  parts: readonly ((step: Step) => boolean)[],
  fails: (shorter: Story) => Promise<boolean>,
): Promise<Story> => {
  let best = story;
  for (const isIn of parts) {
    const steps = best.steps.filter((step) => !isIn(step));
    if (steps.length < best.steps.length && (await fails({ ...best, steps })))
      best = { ...best, steps };
  }
  return best;
};

const say = (text: string): void => {
  process.stdout.write(`${String(Math.round(realElapsed() / 1000)).padStart(5)} s  ${text}\n`);
};

for (const seed of seedsOf(SEED)) {
  if (realElapsed() > longestMs) {
    say('no time left');
    break;
  }
  const story = planStory(seed, { days: Number(DAYS) });
  const fall = await fallOf(story);
  if (!fall) {
    say(`seed ${seed} passes`);
    continue;
  }
  say(`seed ${seed}: day ${fall.day.toFixed(2)}: ${fall.text}`);
  if (INTO === undefined) continue;
  let last = fall;
  const begun = realElapsed();
  const isSame = async (shorter: Story): Promise<boolean> => {
    if (realElapsed() - begun > longestMs / 2) return false;
    const other = await fallOf(shorter);
    if (other?.law !== fall.law) return false;
    last = other;
    return true;
  };
  const begin = endedAt(story, fall.day);
  const few = await withoutParts(begin, partsOf(begin, fall), isSame);
  const shortest = await shrink(endedAt(few, last.day), isSame, 25);
  const ended = endedAt(shortest, last.day);
  const result = (await isSame(ended)) ? ended : shortest;
  writeFileSync(
    INTO,
    `# law: ${fall.law}\n# found by: seed ${seed} of ${DAYS} days\n${textOf(result)}`,
  );
  say(`${String(result.steps.length)} steps in ${String(result.days)} days: ${last.text}`);
  process.exit(1);
}
process.exit(0);
