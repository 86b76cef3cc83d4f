import { expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { EventBus, type Subscriber } from '../../../src/adapters/events/event-bus.ts';
import { OutboxRelay } from '../../../src/adapters/events/outbox-relay.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { Unavailable } from '../../../src/kernel/unavailable.ts';

const start = new Date('2026-03-01T10:00:00Z');

const open = storesOfTests();
const relayTo = async (audit: Subscriber) => {
  const { outbox, happen } = await open({ subscribersOf: () => ['audit'] });
  const [bus, clock] = [new EventBus({ audit }), new SettableClock(start)];
  const relay = new OutboxRelay(outbox, bus, clock, pino({ level: 'silent' }));
  const store = (...types: readonly string[]) =>
    happen(...types.map((type) => ({ type, accountId: 'acct_1', occurredAt: start })));
  return { relay, outbox, store };
};

/** A subscriber that starts and then waits to be released. */
const slow = () => {
  const seen: string[] = [];
  const begun = Promise.withResolvers<undefined>();
  const letGo = Promise.withResolvers<undefined>();
  const subscriber: Subscriber = async ({ event }) => {
    begun.resolve(undefined);
    await letGo.promise;
    seen.push(event.type);
  };
  return { seen, subscriber, begun: begun.promise, letGo: () => letGo.resolve(undefined) };
};

test('a run that is requested during another one looks for new events again', async () => {
  const { seen, subscriber, begun, letGo } = slow();
  const { relay, store } = await relayTo(subscriber);
  await store('first');
  const first = relay.run();
  await begun;
  await store('second');
  const second = relay.run();
  letGo();
  await Promise.all([first, second]);
  expect(seen).toEqual(['first', 'second']);
});

// Every turn of the first run is tried: none may be the one in which a call is lost.
test.each([...Array(30).keys()])(
  'a run that is requested %d turns after another finds all events',
  async (turns) => {
    const seen: string[] = [];
    const { relay, store } = await relayTo(({ event }) => {
      seen.push(event.type);
      return Promise.resolve();
    });
    await store('first');
    const first = relay.run();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await store('second');
    await Promise.all([first, relay.run()]);
    expect(seen).toEqual(['first', 'second']);
  },
);

test('two runs at once deliver each event once', async () => {
  const { seen, subscriber, letGo } = slow();
  const { relay, store } = await relayTo(subscriber);
  await store('a', 'b');
  letGo();
  await Promise.all([relay.run(), relay.run()]);
  expect(seen).toEqual(['a', 'b']);
});

test('stop finishes the deliveries in progress and claims no more', async () => {
  const { seen, subscriber, begun, letGo } = slow();
  const { relay, outbox, store } = await relayTo(subscriber);
  await store(...Array<string>(150).fill('a'));
  const run = relay.run();
  await begun;
  let stopped = false;
  const stop = relay.stop().then(() => {
    stopped = true;
  });
  await Promise.resolve();
  expect(stopped).toBe(false);
  letGo();
  await Promise.all([run, stop]);
  expect(seen).toHaveLength(100);
  await relay.run();
  expect(await outbox.state()).toEqual({ waiting: 50, parked: 0 });
});

test('stopping an idle relay finishes at once', async () => {
  const { relay } = await relayTo(() => Promise.resolve());
  await expect(relay.stop()).resolves.toBeUndefined();
});

test('stop waits for a failing run, and the caller of that run gets the error', async () => {
  const { relay, outbox } = await relayTo(() => Promise.resolve());
  const away = new Unavailable('The database', undefined);
  jest.spyOn(outbox, 'nextDueAt').mockRejectedValueOnce(away);
  const run = expect(relay.run()).rejects.toBe(away);
  await expect(relay.stop()).resolves.toBeUndefined();
  await run;
});
