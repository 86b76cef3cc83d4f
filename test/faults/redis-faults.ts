import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.ts';
import type { Fault, Scene, Struck } from './fault.ts';
import type { Ground } from './ground.ts';
import { outage } from './outage.ts';

const awayForMs = 3_000;
/** How long each process counts alone before it refuses. */
const countsAloneMs = 60_000;

const redisOf = ({ ground }: Scene): NonNullable<Ground['redis']> => {
  if (!ground.redis) throw new Error('this fault needs a Redis');
  return ground.redis;
};

type Step = (scene: Scene) => Promise<unknown>;

/** Outages below a minute go unnoticed. */
const shortly =
  (away: Step, back: Step): Fault['strike'] =>
  async (scene): Promise<Struck> => {
    await away(scene);
    await delay(awayForMs);
    await back(scene);
    const endedAt = performance.now();
    await until('it counts in Redis again', async () => (await countsLocally(scene)) === 0);
    return { endedAt };
  };

const countsLocally = async ({ ground }: Scene): Promise<number> => {
  const text = await (await fetch(`${ground.origins()[0] ?? ''}/metrics`)).text();
  return Number(/^quota_counts_locally (\d)/m.exec(text)?.[1]);
};

const redisFault = (name: string, strike: Fault['strike'], mayAnswer: Fault['mayAnswer'] = []) => ({
  name: `Redis ${name}`,
  // The kind of database makes no difference here.
  databases: ['mariadb'] as const,
  needs: 'redis' as const,
  processes: 2,
  countsInexactly: true,
  mayAnswer,
  recoversWithinMs: 10_000,
  strike,
});

const kill: Step = (scene) => redisOf(scene).server.kill();
const restart: Step = (scene) => redisOf(scene).server.restart();

/** The shared counters fail and recover. */
export const redisFaults: readonly Fault[] = [
  redisFault('is killed (-9) and started again', shortly(kill, restart)),
  redisFault(
    'freezes and goes on',
    shortly(
      (scene) => redisOf(scene).server.freeze(),
      (scene) => {
        redisOf(scene).server.thaw();
        return Promise.resolve();
      },
    ),
  ),
  redisFault(
    'loses its connections half-open',
    shortly(
      (scene) => {
        redisOf(scene).proxy.loseState();
        return Promise.resolve();
      },
      () => Promise.resolve(),
    ),
  ),
  redisFault(
    `is away for more than ${countsAloneMs / 1000} s`,
    outage({
      away: async (scene) => {
        await kill(scene);
        await delay(countsAloneMs);
      },
      back: restart,
      writersSee: ['503 service_unavailable', '303'],
      readersSee: ['503 service_unavailable'],
    }),
    ['503 service_unavailable'],
  ),
];
