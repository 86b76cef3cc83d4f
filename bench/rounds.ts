import { cpuSecondsOf } from './server-usage.ts';

export interface Rate {
  readonly perSecond: number;
  /** The number to compare: it is valid even if the load cannot keep the server busy. */
  readonly perCpuSecond: number;
  readonly cpuSeconds: number;
  /** How long 99 of 100 requests took at most, if the load knows. */
  readonly p99Ms: number;
}

/** One of those that are compared. */
export interface Side {
  readonly name: string;
  readonly load: (milliseconds: number) => Promise<Rate>;
}

export interface Timing {
  /** Of the server's processor time. */
  readonly warmUpSeconds: number;
  readonly rounds: number;
  readonly roundMs: number;
}

/** V8 goes on optimizing what runs often for about five seconds of processor time. */
export const usualTiming: Timing = {
  warmUpSeconds: 5,
  rounds: Number(process.env['ROUNDS'] ?? 11),
  roundMs: 1_000,
};

const mostWarmUpMs = 20_000;

/** What was measured of each side, by round. */
export interface Measured {
  readonly sides: readonly Side[];
  readonly rates: (side: Side) => readonly Rate[];
}

/**
 * Loads the sides in turns, in short rounds, so that a slow moment of the machine hits all of them.
 * @throws Error naming the side whose answers were not as they should be
 */
export const inTurns = async (
  sides: readonly Side[],
  { warmUpSeconds, rounds, roundMs }: Timing = usualTiming,
): Promise<Measured> => {
  const found = new Map(sides.map((side) => [side, [] as Rate[]]));
  for (const side of sides) {
    process.stderr.write(`  warming up: ${side.name}\n`);
    await warmUp(side, warmUpSeconds);
  }
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`  round ${String(round + 1)} of ${String(rounds)}\n`);
    for (const [side, rates] of found) rates.push(await loaded(side, roundMs));
  }
  return { sides, rates: (side) => found.get(side) ?? [] };
};

/** By processor time, because a server that others keep from running learns nothing meanwhile. */
const warmUp = async (side: Side, cpuSeconds: number): Promise<void> => {
  const end = performance.now() + mostWarmUpMs;
  for (let used = 0; used < cpuSeconds && performance.now() < end;) {
    used += (await loaded(side, 2_000)).cpuSeconds;
  }
};

const loaded = async (side: Side, milliseconds: number): Promise<Rate> => {
  try {
    return await side.load(milliseconds);
  } catch (error) {
    throw new Error(`${side.name}: ${String(error)}`, { cause: error });
  }
};

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;

/** What is compared unless another number is named. */
const workDone = ({ perCpuSecond }: Rate): number => perCpuSecond;

/**
 * The median of the ratios of each round: those two were measured one right after the other, on a machine whose cores
 * do not always run at the same speed.
 */
export const ratio = ({ rates }: Measured, one: Side, other: Side, of = workDone): number => {
  const others = rates(other);
  return median(
    rates(one).flatMap((rate, round) => {
      const base = others[round];
      return base ? [of(rate) / of(base)] : [];
    }),
  );
};

/** Runs a load against a process, and counts what that used of the processor. */
export const rateOf = async (
  pid: number,
  work: () => Promise<{ count: number; seconds: number; p99Ms?: number }>,
): Promise<Rate> => {
  const before = cpuSecondsOf(pid);
  const { count, seconds, p99Ms = NaN } = await work();
  const cpuSeconds = cpuSecondsOf(pid) - before;
  return { perSecond: count / seconds, perCpuSecond: count / cpuSeconds, cpuSeconds, p99Ms };
};

/** The second number is what is compared: the load cannot keep every server busy. */
export const rateLines = ({ sides, rates }: Measured): readonly string[] => {
  const width = Math.max(...sides.map((side) => side.name.length)) + 2;
  const heading = ['per s', 'per s of CPU', 'p99 ms'].map((text) => text.padStart(14)).join('');
  const line = (side: Side): string => {
    const all = rates(side);
    const perSecond = median(all.map((rate) => rate.perSecond)).toFixed(0);
    const perCpuSecond = median(all.map(workDone)).toFixed(0);
    const p99Ms = median(all.map((rate) => rate.p99Ms));
    const numbers = [perSecond, perCpuSecond, Number.isNaN(p99Ms) ? '' : p99Ms.toFixed(1)];
    return side.name.padEnd(width) + numbers.map((text) => text.padStart(14)).join('');
  };
  return [' '.repeat(width) + heading, ...sides.map((side) => line(side).trimEnd())];
};
