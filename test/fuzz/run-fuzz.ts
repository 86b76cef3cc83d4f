import {
  targets,
  type BytesCase,
  type FuzzCase,
  type Target,
  requestsIn,
  type DnsCase,
} from './fuzz-case.ts';
import { readAnswers, type Reply, send } from './send.ts';
import { longestHealthMs, watchHealth } from '../support/service/health-watch.ts';
import { anyCase } from './any-case.ts';
import type { FuzzField } from './fuzz-field.ts';
import { judge, ServiceWitness, verifyMangled } from './judge.ts';

interface Row {
  cases: number;
  requests: number;
  readonly answers: Map<string, number>;
}

export class FuzzTally {
  readonly rows = Object.fromEntries(
    targets.map((target): [Target, Row] => [target, { cases: 0, requests: 0, answers: new Map() }]),
  ) as Readonly<Record<Target, Row>>;
  requests = 0;
  mangledAnswers = 0;

  add({ target }: FuzzCase, requests: number): void {
    const row = this.rows[target];
    row.cases += 1;
    row.requests += requests;
    this.requests += requests;
  }

  answer({ target, asks, wants }: BytesCase, { bytes, end }: Reply): void {
    const methods = wants === 'answers' ? asks.map(({ method }) => method) : [];
    const statuses = readAnswers(bytes.toString('latin1'), methods).map(({ status }) => status);
    const { answers } = this.rows[target];
    const told = statuses.length > 0 ? statuses.map(String) : [end];
    for (const one of told) answers.set(one, (answers.get(one) ?? 0) + 1);
  }

  table(): string {
    const lines = Object.entries(this.rows).map(([target, { cases, requests, answers }]) => {
      const told = [...answers]
        .sort(([, a], [, b]) => b - a)
        .map(([what, count]) => `${what}: ${count}`);
      return [
        target.padEnd(14),
        String(cases).padStart(8),
        String(requests).padStart(9),
        `  ${told.join(', ')}`,
      ].join(' ');
    });
    const heading = `${'target'.padEnd(14)} ${'cases'.padStart(8)} ${'requests'.padStart(9)}   answers`;
    return [heading, ...lines, `${this.mangledAnswers} mangled DNS answers`].join('\n');
  }
}

export interface FuzzOrders {
  readonly seed: number;
  readonly requests: number;
  readonly only?: number;
}

export interface Finding {
  readonly what: string;
  /** The cases that may have caused it. */
  readonly cases: readonly FuzzCase[];
}

export interface FuzzReport extends FuzzOrders {
  readonly tally: FuzzTally;
  readonly worstHealthMs: number;
  readonly finding: Finding | undefined;
}

/** Concurrent cases. Verifying mostly waits for silent name servers. */
const lanes = 16;
const verifyingLanes = 24;
const suspects = 100;

/** Sends cases up to the number of requests, or until the first finding. */
export const runFuzz = async (
  field: FuzzField,
  orders: FuzzOrders,
  progress: (tally: FuzzTally) => void = () => undefined,
): Promise<FuzzReport> => {
  const health = await watchHealth(field.service);
  const witness = new ServiceWitness(field);
  const tally = new FuzzTally();
  const latest: FuzzCase[] = [];
  const verifying = new Set<Promise<void>>();
  let finding: Finding | undefined;
  let number = orders.only ?? 0;

  const found = (what: string | undefined, cases: readonly FuzzCase[]): void => {
    if (what !== undefined) finding ??= { what, cases };
  };
  const slow = () => {
    const worst = health.worst()?.workMs ?? 0;
    return worst > longestHealthMs ? `/healthz took ${String(Math.round(worst))} ms` : undefined;
  };
  const verify = async (one: DnsCase): Promise<void> => {
    if (verifying.size >= verifyingLanes) await Promise.race(verifying);
    const work = verifyMangled(one, field)
      .then((what) => {
        found(what, [one]);
      })
      .finally(() => verifying.delete(work));
    verifying.add(work);
  };
  const isEnough = () =>
    finding !== undefined ||
    (orders.only === undefined ? tally.requests >= orders.requests : number > orders.only);
  const lane = async (): Promise<void> => {
    while (!isEnough()) {
      const one = anyCase(orders.seed, number++, field.known);
      latest.push(one);
      if (latest.length > suspects) latest.shift();
      tally.add(one, requestsIn(one));
      if (one.target === 'DNS answers') await verify(one);
      else {
        const reply = await send(one, field);
        tally.answer(one, reply);
        found(judge(one, reply, field), [one]);
      }
      found(witness.complaint() ?? slow(), latest.slice());
      progress(tally);
    }
  };
  await Promise.all(Array.from({ length: orders.only === undefined ? lanes : 1 }, lane));
  await Promise.all(verifying);
  if (!field.service.hasEnded()) await health.settle();
  found(await witness.lastComplaint(), latest.slice());
  found(slow(), latest.slice());
  health.stop();
  tally.mangledAnswers = field.answersGiven();
  const worstHealthMs = health.worst()?.workMs ?? 0;
  return { ...orders, tally, worstHealthMs, finding };
};
