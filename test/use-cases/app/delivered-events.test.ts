import { expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { mostAttempts, queueKinds, waitAfter, type Subscriber } from '../../../src/app/queues.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';

const start = new Date('2026-03-01T10:00:00Z');

const open = storesOfTests();

const relayTo = async (
  subscribers: Readonly<Record<string, Subscriber>>,
  deadlineMs?: number,
  names: readonly string[] = Object.keys(subscribers),
) => {
  const logged: { readonly level: number; readonly subscriber: string }[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line) as never) });
  const clock = new SettableClock(start);
  const { outbox, happen } = await open({ subscribersOf: () => names });
  const kind = queueKinds.events({ outbox, subscribers, clock, log }, deadlineMs);
  const relay = new QueueWorker(kind, { clock, log });
  const store = (...types: readonly string[]) =>
    happen(...types.map((type) => ({ type, accountId: 'acct_1', occurredAt: start })));
  return { relay, outbox, clock, store, logged };
};

const recorder = () => {
  const seen: string[] = [];
  const subscriber: Subscriber = ({ event }) => {
    seen.push(event.type);
    return Promise.resolve();
  };
  return { seen, subscriber };
};
const fails = () => Promise.reject(new Error('the printer is on fire'));

test('the wait doubles from one second after the first failure to at most two minutes', () => {
  const waits = Array.from({ length: 11 }, (_, attempts) => waitAfter(attempts) / 1000);
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120, 120, 120]);
  expect(waitAfter(5000)).toBe(120_000);
});

test('every subscriber gets every event once, with its stored id', async () => {
  const [audit, mail] = [recorder(), recorder()];
  const ids = jest.fn(audit.subscriber);
  const { relay, outbox, store } = await relayTo({ audit: ids, mail: mail.subscriber });
  await store('a', 'b');
  await relay.run();
  await relay.run();
  expect([audit.seen, mail.seen]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
  expect(new Set(ids.mock.calls.map(([stored]) => stored.id)).size).toBe(2);
  expect(await outbox.state()).toEqual({ waiting: 0, parked: 0 });
});

test('a subscriber that fails is retried after growing waits and then parked, while others continue', async () => {
  const audit = recorder();
  const mail = jest.fn(fails);
  const { relay, outbox, clock, store, logged } = await relayTo({ audit: audit.subscriber, mail });
  await store('a');
  for (let failures = 1; failures <= mostAttempts; failures++) {
    await relay.run();
    expect(mail).toHaveBeenCalledTimes(failures);
    clock.advance(waitAfter(failures - 1) - 1);
    await relay.run();
    expect(mail).toHaveBeenCalledTimes(failures);
    clock.advance(1);
  }
  clock.advance(1e9);
  await relay.run();
  expect(mail).toHaveBeenCalledTimes(10);
  expect(await outbox.state()).toEqual({ waiting: 0, parked: 1 });
  expect(audit.seen).toEqual(['a']);
  const levels = logged.map(({ level }) => level);
  expect(levels).toEqual([...Array<number>(9).fill(40), 50]);
  expect(logged.at(-1)).toMatchObject({
    subscriber: 'mail',
    event: 'a',
    eventId: expect.stringMatching(/^evt_/) as unknown,
  });
});

test('a subscriber that hangs reaches its deadline and delays no other', async () => {
  const audit = recorder();
  const hangs = () => new Promise<never>(() => undefined);
  const { relay, outbox, store, logged } = await relayTo({ hangs, audit: audit.subscriber }, 1);
  await store('a');
  await relay.run();
  expect(audit.seen).toEqual(['a']);
  expect(await outbox.state()).toEqual({ waiting: 1, parked: 0 });
  const err = expect.objectContaining({ message: 'hangs took longer than 1 ms' }) as unknown;
  expect(logged).toMatchObject([{ level: 40, subscriber: 'hangs', err }]);
});

test('a delivery to a subscriber of a newer release waits a day for that release before it is parked', async () => {
  const { relay, outbox, clock, store } = await relayTo({}, undefined, ['notices']);
  await store('a');
  const retry = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await relay.run();
      clock.advance(2 * 60_000);
    }
  };
  await retry(mostAttempts + 5);
  expect(await outbox.state()).toEqual({ waiting: 1, parked: 0 });
  clock.advance(24 * 60 * 60_000);
  await retry(1);
  expect(await outbox.state()).toEqual({ waiting: 0, parked: 1 });
});
