import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import type { Fault, Scene } from './fault.ts';
import { usedOf } from './laws.ts';
import { everyDatabase, unavailable, inProgress } from './fault-words.ts';

const seats = 4;
/** The longest time that a process serves before it is killed. */
const longestLifeMs = 400;
/** After this many kills each time, all processes are killed at once. */
const togetherOnceIn = 20;
/** With few kills, killing takes less time than ending a process gracefully. */
const worthCompiling = 20;

interface Tally {
  kills: number;
  /** Kills of processes that had not answered a write yet. */
  cutOff: number;
}

/**
 * Four processes write to one database. Each is killed (-9) at a random moment after it began to serve,
 * while a write is under way, and another one replaces it.
 */
export const killedService: Fault = {
  name: 'the service is killed (-9)',
  databases: everyDatabase,
  processes: seats,
  paceMs: 25,
  mayAnswer: [...unavailable, ...inProgress, 'no answer'],
  recoversWithinMs: 30_000,
  endsProcesses: true,
  strike: async (scene) => {
    const tally: Tally = { kills: 0, cutOff: 0 };
    if (scene.orders.kills >= worthCompiling) await keepCompiledCode(scene);
    await Promise.all(
      scene.ground.services.map((_, seat) => killAgainAndAgain(scene, seat, tally)),
    );
    const pause = (scene.load.record.longestPauseMs / 1000).toFixed(1);
    return {
      note: `${tally.kills} kills, ${tally.cutOff} with writes under way; longest time without a write ${pause} s`,
      complaints: tally.cutOff === 0 ? ['no kill cut off a write'] : [],
    };
  },
};

/**
 * Only a process that ends gracefully saves Node's compile cache, which halves the time of each later
 * start.
 */
const keepCompiledCode = async ({ ground }: Scene): Promise<void> => {
  await ground.services[0]!.end('SIGTERM');
  await ground.restart(0);
};

const killAgainAndAgain = async (scene: Scene, seat: number, tally: Tally): Promise<void> => {
  const { ground, load, orders } = scene;
  while (tally.kills < orders.kills) {
    await delay(orders.random() * longestLifeMs);
    await until(
      'a write is under way',
      () => load.record.openAt(ground.services[seat]!.origin) > 0,
    );
    if (tally.kills >= orders.kills) return;
    const together = orders.random() * togetherOnceIn < 1;
    if (together)
      ground.services.forEach((_, one) => {
        kill(scene, one, tally);
      });
    else kill(scene, seat, tally);
    await ground.services[seat]!.end();
    await ground.restart(seat);
  }
};

/** A process that is already stopping or starting is not counted again. */
const kill = ({ ground, load, orders }: Scene, seat: number, tally: Tally): void => {
  const service = ground.services[seat]!;
  if (service.hasEnded() || !isServing(service.stdout()) || tally.kills >= orders.kills) return;
  const underWay = load.record.openAt(service.origin);
  service.signal('SIGKILL');
  tally.kills += 1;
  if (underWay > 0) tally.cutOff += 1;
  if (tally.kills % 50 === 0) {
    orders.tell(`${tally.kills} of ${orders.kills} kills, ${load.record.acknowledged} writes`);
  }
};

const isServing = (said: string): boolean => /^Animal Store /m.test(said);

const mostRounds = 5;
const runsForMs = 3_000;
/** Counts are stored once a second; a busy machine may be late by as much. */
const mayLoseMs = 2_000;

/** The only process is killed, and continues with its stored data, events and quota. */
export const killedAlone: Fault = {
  name: 'the only process is killed (-9)',
  databases: everyDatabase,
  mayAnswer: [...unavailable, ...inProgress, 'no answer'],
  recoversWithinMs: 15_000,
  endsProcesses: true,
  strike: async ({ ground, load, orders }) => {
    const complaints: string[] = [];
    for (let round = 0; round < Math.min(mostRounds, orders.kills); round++) {
      await delay(runsForMs * (1 + orders.random()));
      const counted = load.record.usedAt(performance.now() - mayLoseMs);
      await ground.services[0]!.end('SIGKILL');
      await ground.restart(0);
      const { requests } = await usedOf(ground);
      if (requests < counted) complaints.push(`${counted - requests} counted requests are lost`);
    }
    return { complaints };
  },
};

const apartMs = 300;

/** Behind a balancer no request is refused, whichever process is told to stop (SIGTERM). */
export const rollingRestart: Fault = {
  name: 'three processes are restarted one after the other',
  databases: everyDatabase,
  processes: 3,
  needs: 'balancer',
  mayAnswer: inProgress,
  recoversWithinMs: 20_000,
  endsProcesses: true,
  strike: async (scene) => {
    const complaints: string[] = [];
    for (const seat of scene.ground.services.keys()) {
      const { code } = await scene.ground.services[seat]!.end('SIGTERM');
      if (code !== 0) complaints.push(`a process that was told to stop ended with ${String(code)}`);
      await scene.ground.restart(seat);
      await isReady(scene, seat);
      // Long enough for the balancer to notice.
      await delay(apartMs);
    }
    return { complaints, recoveryMs: scene.load.record.longestPauseMs };
  },
};

const isReady = ({ ground }: Scene, seat: number): Promise<boolean> =>
  until('it is ready', async () => (await fetch(`${ground.services[seat]!.origin}/readyz`)).ok);
