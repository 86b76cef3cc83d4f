import type { Step, Story } from './story.ts';
import { dayMs } from './world/durations.ts';

export interface Failure {
  readonly text: string;
  /** Days since the beginning of the story. */
  readonly day: number;
}

/**
 * Shortens a story as far as possible while it still fails in the same way. Leaves out the days after the failure, then
 * whole parts of the world, then single steps.
 * @param live runs a story
 * @returns its failure; undefined if there is none, or another one
 */
export const shorten = async (
  story: Story,
  failure: Failure,
  live: (shorter: Story) => Promise<Failure | undefined>,
): Promise<Story> => {
  let last = failure;
  const fails: Fails = async (shorter) => {
    const its = await live(shorter);
    last = its ?? last;
    return its !== undefined;
  };
  const withoutLater = async (longer: Story): Promise<Story> => {
    const ended = endedAt(longer, last.day);
    return (await fails(ended)) ? ended : longer;
  };
  const begin = await withoutLater(story);
  const fewer = await withoutLater(
    await withoutParts(begin, partsOf(begin.steps, last.text), fails),
  );
  return withoutLater(await withoutSteps(fewer, fails));
};

type Fails = (shorter: Story) => Promise<boolean>;
type IsIn = (step: Step) => boolean;

const endedAt = (story: Story, day: number): Story => ({
  ...story,
  days: Math.min(story.days, Math.ceil(day)),
  steps: story.steps.filter(({ at }) => at <= day * dayMs),
});

const partOf = ({ who, words }: Step): string =>
  [who, ...(who === 'weather' ? words.slice(0, 2) : words.slice(1, 2).filter(isHost))].join(' ');

const isHost = (word: string): boolean => word.includes('.');

const isVerbIn =
  (...verbs: readonly string[]): IsIn =>
  ({ words: [verb = ''] }) =>
    verbs.includes(verb);

/** Large parts that rarely matter come first. @param text names the relevant host */
const partsOf = (steps: readonly Step[], text: string): readonly IsIn[] => {
  const isNamed = (word: string): boolean => isHost(word) && text.includes(` ${word};`);
  const parts = [...Map.groupBy(steps, partOf)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  );
  return [
    ({ who }) => who === 'weather',
    ({ words }) => !words.some(isNamed),
    ({ who, words }) => who !== 'weather' && words.some(isHost) && !words.some(isNamed),
    isVerbIn('dies', 'shows'),
    isVerbIn('shows'),
    isVerbIn('sells', 'bursts', 'deploys', 'rotates', 'turns', 'takes', 'allows'),
    ...parts.map(
      ([part]): IsIn =>
        (step) =>
          partOf(step) === part,
    ),
  ];
};

const withoutParts = async (story: Story, parts: readonly IsIn[], fails: Fails): Promise<Story> => {
  let best = story;
  for (const isIn of parts) {
    const steps = best.steps.filter((step) => !isIn(step));
    if (steps.length < best.steps.length && (await fails({ ...best, steps })))
      best = { ...best, steps };
  }
  return best;
};

const mostRuns = 200;

const withoutSteps = async (story: Story, fails: Fails): Promise<Story> => {
  let best = story;
  let runs = 0;
  for (let part = Math.ceil(best.steps.length / 2); part >= 1 && runs < mostRuns;) {
    let isShorter = false;
    for (let from = 0; from < best.steps.length && runs < mostRuns;) {
      const steps = [...best.steps.slice(0, from), ...best.steps.slice(from + part)];
      runs += 1;
      if (await fails({ ...best, steps })) {
        best = { ...best, steps };
        isShorter = true;
      } else from += part;
    }
    if (part === 1 && !isShorter) break;
    part = part === 1 ? 1 : Math.ceil(part / 2);
  }
  return best;
};
