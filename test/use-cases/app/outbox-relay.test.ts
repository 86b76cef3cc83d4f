import { expect, jest, test } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { EventBus, type Subscriber } from '../../../src/adapters/events/event-bus.ts';
import { mostAttempts, OutboxRelay, waitAfter } from '../../../src/adapters/events/outbox-relay.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { Unavailable } from '../../../src/kernel/unavailable.ts';

const start = new Date('2026-03-01T10:00:00Z');

const open = storesOfTests();

/** A relay, and what it logs. @param names who gets each event; by default the subscribers */
const relayTo = async (
  subscribers: Readonly<Record<string, Subscriber>>,
  deadlineMs?: number,
  names: readonly string[] = Object.keys(subscribers),
) => {
  const logged: { readonly level: number; readonly subscriber: string }[] = [];
  const log = pino({}, { write: (line) => void logged.push(JSON.parse(line) as never) });
  const clock = new SettableClock(start);
  const { outbox, happen } = await open({ subscribersOf: () => names });
  const relay = new OutboxRelay(outbox, new EventBus(subscribers, deadlineMs), clock, log);
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

test('every subscriber gets every event once, with the id that it is stored under', async () => {
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

test('more events than fit into one claim are delivered in one run', async () => {
  const audit = recorder();
  const { relay, store } = await relayTo({ audit: audit.subscriber });
  const types = Array.from({ length: 250 }, (_, number) => String(number));
  await store(...types);
  await relay.run();
  expect(audit.seen).toEqual(types);
});

test('a subscriber that fails is retried after growing waits and then parked, while others go on', async () => {
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

test('a subscriber that recovers gets missed events, and later events meanwhile', async () => {
  const audit = recorder();
  const works = jest.fn(audit.subscriber).mockImplementationOnce(fails);
  const { relay, outbox, clock, store } = await relayTo({ audit: works });
  await store('missed');
  await relay.run();
  await store('later');
  await relay.run();
  expect(audit.seen).toEqual(['later']);
  clock.advance(1000);
  await relay.run();
  expect(audit.seen).toEqual(['later', 'missed']);
  expect(await outbox.state()).toEqual({ waiting: 0, parked: 0 });
});

test('a hanging subscriber reaches its deadline and delays no other', async () => {
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

test('a subscriber that throws at once or is unknown is treated as one that fails', async () => {
  const throws = () => {
    throw new Error('not even a promise');
  };
  const bus = new EventBus({ throws });
  const event = { type: 'a', accountId: 'acct_1', occurredAt: start };
  const stored = { id: 'evt_1', actor: 'service', event } as const;
  await expect(bus.hand(stored, 'throws')).rejects.toThrow('not even a promise');
  await expect(bus.hand(stored, 'nobody')).rejects.toThrow('no subscriber is called nobody');
});

test('what is for a subscriber of a newer release waits a day for it, and is parked only then', async () => {
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

test('an outbox that cannot be reached ends the run, and the next run delivers', async () => {
  const audit = recorder();
  const { relay, outbox, store } = await relayTo({ audit: audit.subscriber });
  await store('a');
  const away = new Unavailable('The database', undefined);
  jest.spyOn(outbox, 'claim').mockRejectedValueOnce(away);
  await expect(relay.run()).rejects.toBe(away);
  await relay.run();
  expect(audit.seen).toEqual(['a']);
});

test('deliveries of one turn are marked as done together, and those of a claim begin in several turns', async () => {
  const audit = recorder();
  const { relay, outbox, store } = await relayTo({ audit: audit.subscriber });
  const done = jest.spyOn(outbox, 'done');
  await store(...Array.from({ length: 100 }, (_, number) => String(number)));
  const running = relay.run();
  await nextTurn();
  expect(audit.seen.length).toBeLessThan(50);
  await running;
  const together = done.mock.calls.map((ids) => ids.length);
  expect(Math.max(...together)).toBeGreaterThan(1);
  expect(together.reduce((sum, count) => sum + count, 0)).toBe(100);
  expect(await outbox.state()).toEqual({ waiting: 0, parked: 0 });
});

test('deliveries that could not be marked as done come again, and those of later turns are done', async () => {
  const audit = recorder();
  const slowly: Subscriber = async (stored) => {
    if (stored.event.type === 'c') for (let turn = 0; turn < 5; turn++) await nextTurn();
    await audit.subscriber(stored);
  };
  const { relay, outbox, clock, store } = await relayTo({ slowly });
  await store('a', 'b', 'c');
  const away = new Unavailable('The database', undefined);
  jest.spyOn(outbox, 'done').mockRejectedValueOnce(away);
  const run = relay.run();
  await expect(Promise.all([run, relay.stop()])).rejects.toBe(away);
  expect(audit.seen).toEqual(['a', 'b', 'c']);
  expect(await outbox.state()).toEqual({ waiting: 2, parked: 0 });
  clock.advance(60_000);
  const afterwards = await outbox.claim(clock.now(), clock.now(), 10);
  expect(afterwards.map(({ stored }) => stored.event.type)).toEqual(['a', 'b']);
});
