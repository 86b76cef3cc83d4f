import { setTimeout as delay } from 'node:timers/promises';
import { longestHealthMs, watchHealth, type Probe } from '../support/service/health-watch.ts';
import { within } from '../support/until.ts';
import { usedOf, type AccountUse, lawsOf } from './laws.ts';
import type { Fault, FaultOrders } from './fault.ts';
import { FaultLoad } from './fault-load.ts';
import { type Ground, openGround } from './ground.ts';
import type { Observation } from './load-record.ts';
import { FaultServers } from './fault-servers.ts';
import type { FaultDatabase } from './fault-words.ts';

export interface FaultReport {
  readonly fault: string;
  readonly database: FaultDatabase;
  readonly note: string;
  readonly acknowledged: number;
  readonly lost: number;
  readonly doubled: number;
  readonly unexpected: number;
  readonly recoveryMs: number;
  readonly longestAnswerMs: number;
  /** The longest answer of `/healthz` that the service itself caused; undefined when processes end. */
  readonly longestHealthMs: number | undefined;
  readonly tookMs: number;
  readonly complaints: readonly string[];
}

const wellWithinMs = 90_000;
let count = 0;

/** Puts the ground under load, runs the fault, and checks the result. */
const runFault = async (
  fault: Fault,
  ground: Ground,
  orders: FaultOrders,
): Promise<FaultReport> => {
  const started = performance.now();
  const { keyedWriters = 4, paceMs = 5, endsProcesses = false, processes = 1 } = fault;
  count += 1;
  const options = {
    label: `f${count}`,
    keyedWriters,
    paceMs,
    random: orders.random,
    failedBefore: (await ground.facts.told('deploy_failed')).length,
  };
  const load = new FaultLoad(ground, options);
  const health = endsProcesses ? undefined : await watchHealth(ground.services[0]!);
  const isCounted = processes === 1 && !endsProcesses && fault.countsInexactly !== true;
  try {
    const before = isCounted ? await usedOf(ground) : undefined;
    load.start();
    await within(wellWithinMs, 'the load runs', () => load.allWell(started));
    const struck = await fault.strike({ ground, load, orders });
    const endedAt = struck.endedAt ?? performance.now();
    await within(wellWithinMs, 'all succeed again', () => load.allWell(endedAt)).catch(ignored);
    const recoveryMs = struck.recoveryMs ?? performance.now() - endedAt;
    const stuck = await stopped(load);
    const counted = before && (await miscounted(ground, load, before));
    await health?.settle();
    const laws = await lawsOf(ground, load);
    const unexpected = unexpectedOf(fault, load.record.failures, endedAt);
    const worst = health?.worst()?.workMs;
    return {
      fault: fault.name,
      database: ground.kind,
      note: struck.note ?? '',
      recoveryMs,
      acknowledged: load.record.acknowledged,
      lost: laws.lost,
      doubled: laws.doubled,
      unexpected: unexpected.length,
      longestAnswerMs: load.record.longestMs,
      longestHealthMs: worst,
      tookMs: performance.now() - started,
      complaints: [
        ...laws.complaints,
        ...stuck,
        ...(struck.complaints ?? []),
        ...toldOf(unexpected, endedAt),
        ...(recoveryMs > fault.recoversWithinMs ? [`recovered after ${seconds(recoveryMs)}`] : []),
        ...(counted ?? []),
        ...missedHealth(health?.probes ?? []),
        ...((worst ?? 0) > longestHealthMs ? [`/healthz took ${seconds(worst ?? 0)}`] : []),
      ],
    };
  } finally {
    health?.stop();
    await Promise.race([load.stop(), delay(5_000, undefined, { ref: false })]);
  }
};

const ignored = (): undefined => undefined;

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

/** Waits until no write is in doubt. @returns clients that still wait, with their last answers */
const stopped = async (load: FaultLoad): Promise<readonly string[]> => {
  const late = delay(wellWithinMs, true, { ref: false });
  if (!(await Promise.race([load.stop(), late]))) return [];
  const { failures } = load.record;
  const lastOf = Map.groupBy(failures.slice(-50), ({ client, answer }) => `${client}: ${answer}`);
  return [`in doubt for ever: ${[...lastOf.keys()].join(', ')}`];
};

/** A failure that this fault may not cause, or one of a request after it. */
const unexpectedOf = (
  { mayAnswer, recoversWithinMs }: Fault,
  failures: readonly Observation[],
  endedAt: number,
): readonly Observation[] =>
  failures.filter(
    ({ answer, at }) => !mayAnswer.includes(answer) || at > endedAt + recoversWithinMs,
  );

const toldOf = (unexpected: readonly Observation[], endedAt: number): readonly string[] => {
  const kinds = Map.groupBy(unexpected, ({ client, answer }) => `${answer} to ${kindOf(client)}`);
  return [...kinds].map(([kind, all]) => {
    const first = seconds((all[0]?.at ?? 0) - endedAt);
    return `${all.length} times ${kind}, first ${first} after its end`;
  });
};

const kindOf = (client: string): string =>
  /(keyed|plain)/.exec(client)?.[0] ?? (client === 'clerk' ? 'a form' : 'a reader');

/** A main thread that waits for a lock is not busy, but still answers no request. */
const longestStillMs = 1_500;

const missedHealth = (probes: readonly Probe[]): readonly string[] => {
  const missed = probes.filter(({ status }) => status !== 200).length;
  const still = Math.max(0, ...probes.map(({ stillMs }) => stillMs));
  return [
    ...(missed > 0 ? [`/healthz was away ${missed} of ${probes.length} times`] : []),
    ...(still > longestStillMs ? [`the service stood still for ${seconds(still)}`] : []),
  ];
};

/** Each answer that shows the account's limit was counted once, and so was the last check itself. */
const miscounted = async (
  ground: Ground,
  { record }: FaultLoad,
  before: AccountUse,
): Promise<readonly string[]> => {
  const after = await usedOf(ground);
  const added = after.requests - before.requests - 1;
  if (after.day !== before.day || added === record.counted) return [];
  return [`${added} requests are counted against the quota instead of ${record.counted}`];
};

/** Opens one ground after the other; a fault reuses the previous one when its needs are equal. */
export class FaultRun {
  readonly reports: FaultReport[] = [];
  readonly #servers = new FaultServers();
  readonly #orders: FaultOrders;
  #ground: { readonly wish: string; readonly opened: Promise<Ground> } | undefined;

  constructor(orders: FaultOrders) {
    this.#orders = orders;
  }

  /** @returns the report, with an error of the fault as a complaint */
  async run(fault: Fault, kind: FaultDatabase): Promise<FaultReport> {
    const started = performance.now();
    const report = await this.#attempt(fault, kind).catch(async (error: unknown) => {
      await this.#leave().catch(() => undefined);
      return notRun(fault, kind, { error, tookMs: performance.now() - started });
    });
    this.reports.push(report);
    return report;
  }

  async close(): Promise<void> {
    try {
      await this.#leave();
    } finally {
      await this.#servers.close();
    }
  }

  async #attempt(fault: Fault, kind: FaultDatabase): Promise<FaultReport> {
    const wish = JSON.stringify([kind, fault.processes ?? 1, fault.needs]);
    if (this.#ground?.wish !== wish) {
      await this.#leave();
      this.#ground = { wish, opened: openGround(kind, fault, this.#servers) };
    }
    return runFault(fault, await this.#ground.opened, this.#orders);
  }

  async #leave(): Promise<void> {
    const ground = this.#ground;
    this.#ground = undefined;
    await (await ground?.opened)?.close();
  }
}

const notRun = (
  { name }: Fault,
  database: FaultDatabase,
  { error, tookMs }: { readonly error: unknown; readonly tookMs: number },
): FaultReport => ({
  fault: name,
  database,
  note: '',
  tookMs,
  acknowledged: 0,
  lost: 0,
  doubled: 0,
  unexpected: 0,
  recoveryMs: 0,
  longestAnswerMs: 0,
  longestHealthMs: undefined,
  complaints: [error instanceof Error ? error.message : String(error)],
});
