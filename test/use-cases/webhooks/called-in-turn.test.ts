import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { mostAtOnce, places } from '../../../src/adapters/schedule/shares.ts';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import { settle, type Attempt } from '../../../src/notifications/domain/webhook-delivery.ts';
import { firstSecret, type Webhook } from '../../../src/notifications/domain/webhook.ts';
import type { ClaimedDelivery } from '../../../src/notifications/webhook-ports.ts';
import { SettableClock } from '../../support/settable-clock.ts';
import { newAccount, now } from '../../support/accounts.ts';
import { holdTimeouts } from '../../support/held-timeouts.ts';
import { storesOfTests } from '../../support/stores-of-tests.ts';
import { until } from '../../support/until.ts';
import { webhookDecision } from '../../support/webhooks/stored-webhook.ts';

const answered: Attempt = { kind: 'answered', status: 204, beginning: '', tookMs: 5, at: now };

const open = storesOfTests();
afterEach(() => {
  jest.useRealTimers();
});

/** A pump whose calls end as `call` returns. */
const pumpOver = async (call: (claimed: ClaimedDelivery, signal: AbortSignal) => Promise<void>) => {
  const ports = await open();
  const { webhooks, webhookDeliveries: deliveries } = ports;
  const attempt = async (claimed: ClaimedDelivery, signal: AbortSignal) => {
    await call(claimed, signal);
    await deliveries.settle(claimed, answered, (current) =>
      settle(current, answered, { address: claimed.webhook?.address, chance: 0 }),
    );
    return undefined;
  };
  const log = pino({ level: 'silent' });
  const clock = new SettableClock(now);
  const kind = queueKinds.webhooks({ deliveries, attempt, clock, log });
  const pump = new QueueWorker(kind, { clock, log, graceMs: 0 });
  let next = 0;
  return {
    pump,
    ports,
    /** In a separate account by default. */
    webhook: async (address: string, of?: string) => {
      const owner = of ?? (await newAccount(ports));
      return webhooks.add(owner, () => ({
        ...webhookDecision(owner, { address }),
        secrets: firstSecret('whsec_x'),
      }));
    },
    send: async (to: readonly Webhook[]) => {
      const message = { id: `evt_${(next += 1)}`, type: 'key.banned', body: '{}' };
      for (const one of to) await deliveries.add({ ...one, ...message }, [one], now);
    },
  };
};

const untilStopped = (signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('stopped'));
    });
  });

test('a burst for one webhook is sent a few at a time, without waiting for the schedule', async () => {
  let [running, most, done] = [0, 0, 0];
  const { pump, webhook, send } = await pumpOver(async () => {
    most = Math.max(most, (running += 1));
    await nextTurn();
    running -= 1;
    done += 1;
  });
  const hook = await webhook('https://busy.example/');
  for (let n = 0; n < 50; n += 1) await send([hook]);
  await pump.run();
  await pump.run();
  await until('all are sent', () => done === 50);
  expect(most).toBe(mostAtOnce.webhook);
  await pump.stop();
});

test('hanging receivers beyond the number of places delay the others by a second, and only the first time', async () => {
  const done: string[] = [];
  const { pump, webhook, send } = await pumpOver(async ({ webhook: one }, signal) => {
    if (one?.address.includes('hangs')) await untilStopped(signal);
    done.push(one?.address ?? '');
  });
  const many = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => webhook(`https://${name}-${n}.example/`)));
  const hanging = await many(places.quick + 50, 'hangs');
  const others = await many(100, 'works');
  await send(hanging);
  await send(others);
  holdTimeouts();
  await pump.run();
  await jest.advanceTimersByTimeAsync(999);
  expect(done).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  await until('the others are called', () => done.length === 100);
  jest.useRealTimers();
  await pump.stop();
});
