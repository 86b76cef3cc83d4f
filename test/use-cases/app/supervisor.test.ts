import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import type { Child, Ending } from '../../../src/app/processes/children.ts';
import { Supervisor } from '../../../src/app/processes/supervisor.ts';
import { until } from '../../support/until.ts';

const puppet = (at: number) => {
  const served = Promise.withResolvers<boolean>();
  const ended = Promise.withResolvers<Ending>();
  const end = (code: number | null, signal: string | null = null) => {
    served.resolve(false);
    ended.resolve({ code, signal });
  };
  const told: string[] = [];
  const child: Child = {
    pid: 100 + at,
    served: served.promise,
    ended: ended.promise,
    introduce: () => void told.push('introduce'),
    stop: (why) => {
      told.push(why);
      end(0);
    },
    kill: () => {
      told.push('kill');
      end(null, 'SIGKILL');
    },
    lastSnapshot: undefined,
    snapshot: () => Promise.resolve([]),
  };
  return {
    at,
    told,
    child,
    end,
    serve: () => {
      served.resolve(true);
    },
  };
};

const theatre = () => {
  const puppets: ReturnType<typeof puppet>[] = [];
  const pauses: { readonly ms: number; readonly end: (value?: unknown) => void }[] = [];
  const clock = { now: 0 };
  const supervisor = new Supervisor({
    log: pino({ level: 'silent' }),
    elapsed: () => clock.now,
    pause: (ms) => new Promise((end) => pauses.push({ ms, end })),
    fork: (at) => {
      const one = puppet(at);
      puppets.push(one);
      return one.child;
    },
  });
  const nth = (count: number) => until(`process ${count} is started`, () => puppets[count - 1]);
  const nthPause = (count: number) => until(`pause ${count}`, () => pauses[count - 1]);
  const startTwo = async () => {
    const started = supervisor.start(2);
    (await nth(1)).serve();
    (await nth(2)).serve();
    await started;
  };
  return { supervisor, puppets, pauses, clock, nth, nthPause, startTwo };
};

test('the first process starts alone, and the others once it serves', async () => {
  const { supervisor, puppets, nth } = theatre();
  const started = supervisor.start(3);
  const first = await nth(1);
  expect(puppets).toHaveLength(1);
  first.serve();
  (await nth(3)).serve();
  puppets[1]!.serve();
  expect(await started).toBe(first.child);
  expect(puppets.map(({ at }) => at)).toEqual([0, 1, 2]);
  expect(supervisor.serving).toHaveLength(3);
});

test.each([1, 2])('when process %d ends before it serves, all end with its code', async (which) => {
  const { supervisor, puppets, nth } = theatre();
  const started = supervisor.start(2);
  if (which === 2) (await nth(1)).serve();
  (await nth(which)).end(3);
  await expect(started).rejects.toMatchObject({ exitCode: 3 });
  expect(puppets).toHaveLength(which);
  if (which === 2) expect(puppets[0]!.told).toEqual(['ending']);
});

test('a process that does not end when another one cannot start is killed', async () => {
  const { supervisor, nth, nthPause } = theatre();
  const started = supervisor.start(2);
  const first = await nth(1);
  first.child.stop = (why) => void first.told.push(why);
  first.serve();
  (await nth(2)).end(3);
  (await nthPause(1)).end();
  await expect(started).rejects.toMatchObject({ exitCode: 3 });
  expect(first.told).toEqual(['ending', 'kill']);
});

test('a stop during the start is not a failed start', async () => {
  const { supervisor, puppets, nth } = theatre();
  const started = supervisor.start(2);
  (await nth(1)).serve();
  await nth(2);
  await supervisor.stop();
  expect(await started).toBeUndefined();
  expect(puppets.map(({ told }) => told)).toEqual([['ending'], ['ending']]);
});

test('a stop that comes as the first process serves starts no other process', async () => {
  const { supervisor, puppets, nth } = theatre();
  const started = supervisor.start(3);
  (await nth(1)).serve();
  await supervisor.stop();
  expect(await started).toBeUndefined();
  expect(puppets.map(({ told }) => told)).toEqual([['ending']]);
});

test('a process that ends is replaced in its role, after 1, 2, 4 and at most 30 seconds', async () => {
  const { supervisor, puppets, nth, nthPause, startTwo } = theatre();
  await startTwo();
  const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
  for (const [count, ms] of waits.entries()) {
    puppets.at(count === 0 ? 0 : -1)!.end(1);
    // The deadline of a start is between two pauses.
    const pause = await nthPause(2 * count + 1);
    expect(pause.ms).toBe(ms);
    pause.end();
    expect((await nth(count + 3)).at).toBe(0);
  }
  expect(supervisor.replacedAfterDeath).toBe(waits.length);
});

test('a replacement for a dead process that does not serve in time is killed and replaced', async () => {
  const { nth, nthPause, startTwo } = theatre();
  await startTwo();
  (await nth(1)).end(null, 'SIGKILL');
  (await nthPause(1)).end();
  const third = await nth(3);
  const deadline = await nthPause(2);
  expect(deadline.ms).toBe(60_000);
  deadline.end();
  (await nthPause(3)).end();
  expect(third.told).toEqual(['kill']);
  expect((await nth(4)).at).toBe(0);
});

test('a first process that ends normally before it served is a failed start', async () => {
  const { supervisor, nth } = theatre();
  const started = supervisor.start(2);
  (await nth(1)).end(0);
  await expect(started).rejects.toMatchObject({ exitCode: 1 });
});

test('the pause is short again after a minute of life', async () => {
  const { clock, nth, nthPause, startTwo } = theatre();
  await startTwo();
  (await nth(1)).end(1);
  (await nthPause(1)).end();
  const second = await nth(3);
  clock.now += 60_000;
  second.end(null, 'SIGKILL');
  expect((await nthPause(3)).ms).toBe(1_000);
});

test('a rolling restart replaces one process after the other, each once its successor serves', async () => {
  const { supervisor, puppets, pauses, nth, startTwo } = theatre();
  await startTwo();
  const [one, two] = puppets;
  one!.child.stop = (why) => void one!.told.push(why);
  const round = supervisor.replaceAll();
  const third = await nth(3);
  expect([third.at, one!.told]).toEqual([0, []]);
  third.serve();
  await until('the first one is told', () => one!.told.length === 1);
  await turn();
  expect([puppets.length, supervisor.serving.length]).toEqual([3, 3]);
  one!.end(0);
  const fourth = await nth(4);
  expect([fourth.at, one!.told, two!.told]).toEqual([1, ['replaced'], []]);
  fourth.serve();
  await round;
  expect(two!.told).toEqual(['replaced']);
  await turn();
  expect(puppets).toHaveLength(4);
  expect(supervisor.replacedAfterDeath).toBe(0);
  expect(pauses.filter(({ ms }) => ms !== 60_000)).toEqual([]);
});

test('a second rolling restart follows the first', async () => {
  const { supervisor, nth, startTwo } = theatre();
  await startTwo();
  const rounds = [supervisor.replaceAll(), supervisor.replaceAll()];
  for (const count of [3, 4, 5, 6]) (await nth(count)).serve();
  await Promise.all(rounds);
});

test('when a new process does not serve in time, it is killed and the old ones stay', async () => {
  const { supervisor, puppets, nth, nthPause, startTwo } = theatre();
  await startTwo();
  const round = supervisor.replaceAll();
  const third = await nth(3);
  const deadline = await nthPause(1);
  expect(deadline.ms).toBe(60_000);
  deadline.end();
  await round;
  expect(third.told).toEqual(['kill']);
  expect(puppets.slice(0, 2).map(({ told }) => told)).toEqual([[], []]);
  expect(supervisor.serving).toHaveLength(2);
});

test('when a new process ends before it serves, the old ones stay', async () => {
  const { supervisor, puppets, nth, startTwo } = theatre();
  await startTwo();
  const round = supervisor.replaceAll();
  (await nth(3)).end(1);
  await round;
  expect(puppets.slice(0, 2).map(({ told }) => told)).toEqual([[], []]);
  expect(puppets).toHaveLength(3);
});

test('a dead process that a rolling restart replaces is not replaced twice', async () => {
  const { supervisor, puppets, nth, nthPause, startTwo } = theatre();
  await startTwo();
  (await nth(1)).end(1);
  const pause = await nthPause(1);
  const round = supervisor.replaceAll();
  (await nth(3)).serve();
  (await nth(4)).serve();
  await round;
  pause.end();
  await turn();
  expect(puppets.map(({ at }) => at)).toEqual([0, 1, 0, 1]);
  await supervisor.stop();
});

test('no process is started after a stop began', async () => {
  const { supervisor, puppets, nth, nthPause, startTwo } = theatre();
  await startTwo();
  (await nth(1)).end(1);
  const pause = await nthPause(1);
  const stopped = supervisor.stop();
  puppets[1]!.end(null, 'SIGKILL');
  pause.end();
  await stopped;
  expect(puppets).toHaveLength(2);
});

test('stopping reports a process that did not end normally', async () => {
  const { supervisor, puppets, startTwo } = theatre();
  await startTwo();
  puppets[1]!.child.stop = () => {
    puppets[1]!.end(1);
  };
  await expect(supervisor.stop()).rejects.toThrow('A process did not end cleanly.');
});
