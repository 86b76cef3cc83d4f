import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { HttpServer, type Handler } from '../../src/adapters/http/listener/http-server.ts';
import { eventLoopMeasures } from '../../src/adapters/http/metrics/measures.ts';
import { Metrics } from '../../src/adapters/http/metrics/metrics.ts';
import {
  EventLoopWatch,
  named,
  RunningWork,
  watched,
} from '../../src/adapters/system/event-loop-watch.ts';
import { observedJobs } from '../../src/app/worker.ts';
import { observedSubscribers } from '../../src/app/wiring/queues.ts';
import { until } from '../support/until.ts';

interface Line {
  readonly msg: string;
  readonly delayMs: number;
  readonly begun: readonly string[];
  readonly inProgress: readonly string[];
}

/** Advances only while something blocks. The watch checks every 50 ms by the clock of the machine. */
const clock = { now: 0 };
let running: RunningWork;
let watch: EventLoopWatch;
const lines: Line[] = [];
beforeEach(() => {
  lines.length = 0;
  running = new RunningWork();
  const write = (line: string) => void lines.push(JSON.parse(line) as Line);
  watch = new EventLoopWatch(running, pino({ level: 'info' }, { write }), () => clock.now);
  watch.start();
});
afterEach(() => {
  watch.stop();
});

const block = (milliseconds: number): void => {
  clock.now += milliseconds;
};

const blocking = (milliseconds: number): Promise<void> =>
  Promise.resolve().then(() => {
    block(milliseconds);
  });

const toldOf = (name: string): Promise<Line> =>
  until(`a line tells of ${name}`, () =>
    lines.find(({ begun, inProgress }) => [...begun, ...inProgress].includes(name)),
  );

test('a job that blocks the event loop is logged with its name and duration', async () => {
  const job = {
    name: 'relay events',
    schedule: '* * * * * *',
    run: async () => (await blocking(600), 'done' as const),
  };
  const metrics = { count: () => undefined, time: () => undefined };
  await observedJobs({ metrics, running }, [job])[0]!.run(() => false);
  const line = await toldOf('job relay events');
  expect(line.msg).toBe('the event loop was blocked');
  expect(line.delayMs).toBe(550);
  expect(line.begun[0]).toBe('job relay events');
});

test('a subscriber that blocks is logged with its event', async () => {
  const { audit } = observedSubscribers(running, undefined, { audit: () => blocking(600) });
  await audit!({ event: { type: 'pet_added' } } as never);
  expect((await toldOf('delivery pet_added to audit')).inProgress).toEqual([]);
});

test('a request that blocks is logged by id, method and path, without secrets', async () => {
  const handle: Handler = (_, response) => {
    response.setHeader('X-Request-Id', 'r-7');
    block(600);
    response.end();
  };
  const server = new HttpServer(watched(running, handle));
  const port = await server.listen('127.0.0.1', 0);
  await fetch(`http://127.0.0.1:${String(port)}/v1/pets/7?limit=secret`);
  expect((await toldOf('request GET /v1/pets/7 (r-7)')).begun).toHaveLength(1);
  await fetch(`http://127.0.0.1:${String(port)}/dashboard/sign-in/secret`, { method: 'POST' });
  await toldOf('request POST /dashboard/sign-in/… (r-7)');
  expect(JSON.stringify(lines)).not.toContain('secret');
  await server.stop();
});

test('work in progress is logged together with the work that began last', async () => {
  let end: () => void = () => undefined;
  const waiting = running.during(
    named('job', 'waiting'),
    () => new Promise<void>((resolve) => (end = resolve)),
  );
  await nextTurn();
  running.forgetBegun();
  running.note(named('visit', 'GET /'));
  block(600);
  const line = await toldOf('visit GET /');
  expect(line).toMatchObject({ begun: ['visit GET /'], inProgress: ['job waiting'] });
  end();
  await waiting;
});

test('each delay is measured, and each logged delay is counted', async () => {
  const metrics = new Metrics();
  metrics.show(eventLoopMeasures, () => watch.state());
  for (let times = 1; times <= 2; times++) {
    block(600);
    await until('it is noticed', () => lines.length >= times);
  }
  const measured = async () => {
    const text = await metrics.registry.metrics();
    return (name: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      );
  };
  const valueOf = await measured();
  expect(valueOf('event_loop_delay_seconds{of="max"}')).toBeGreaterThanOrEqual(0.55);
  expect(valueOf('event_loop_blocked_total')).toBe(lines.length);
  // The mean and the percentile are those of the real event loop, which may be slightly late.
  await until('it was late', async () => {
    const laterValueOf = await measured();
    const all = ['mean', 'p99'].map((of) => laterValueOf(`event_loop_delay_seconds{of="${of}"}`));
    return all.every((seconds) => seconds > 0);
  });
});
