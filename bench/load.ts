import autocannon from 'autocannon';

export interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Measured {
  readonly name: string;
  /** Median over the rounds, in requests per second. */
  readonly perSecond: number;
}

const rounds = 5;
const secondsPerRound = 3;

/**
 * Loads the targets in turns, so that a slow moment of the machine hits all of them, and takes the median.
 * @throws Error when a target answers anything but 2xx
 */
export const compare = async (targets: readonly Target[]): Promise<readonly Measured[]> => {
  const found = targets.map(({ name }) => ({ name, perSecond: [] as number[] }));
  for (const target of targets) await load(target, 1);
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`  round ${String(round + 1)} of ${String(rounds)}\r`);
    for (const [at, target] of targets.entries()) {
      found[at]?.perSecond.push(await load(target, secondsPerRound));
    }
  }
  return found.map(({ name, perSecond }) => ({ name, perSecond: median(perSecond) }));
};

const load = async ({ name, url, headers }: Target, seconds: number): Promise<number> => {
  const result = await autocannon({
    url,
    connections: 32,
    duration: seconds,
    headers: { ...headers },
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${name}: ${String(result.non2xx)} refused, ${String(result.errors)} failed`);
  }
  return result.requests.average;
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
