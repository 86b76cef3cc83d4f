import { pino } from 'pino';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { SystemClock, UuidIds } from '../../../src/adapters/system/clock-and-chance.ts';
import { StandardSigning } from '../../../src/adapters/webhooks/standard-signing.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import { webhookCalls } from '../../../src/notifications/notifications.ts';
import type { AskedCalls, Outside } from '../../../src/notifications/webhook-ports.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import type { StoragePorts } from '../storage-ports.ts';

const rules = { allowsThisMachine: true };

interface Calling {
  readonly graceMs?: number;
  readonly clock?: Clock;
  /** Counts calls that people ask for; by default there may be any number. */
  readonly admit?: AskedCalls['admit'];
  readonly times?: Parameters<typeof queueKinds.webhooks>[1];
}

/** The face, and what calls webhooks, as a worker has them. */
export const callingOver = (
  stores: Pick<StoragePorts, 'webhooks' | 'webhookDeliveries'>,
  outside: Outside,
  { graceMs, times, clock = new SystemClock(), admit = () => Promise.resolve() }: Calling = {},
) => {
  const deliveries = stores.webhookDeliveries;
  const calls = webhookCalls({
    ...{ webhooks: stores.webhooks, deliveries, outside, clock, askedCalls: { admit } },
    ...{ signing: new StandardSigning(), destinationRules: rules, ids: new UuidIds() },
  });
  const log = pino({ level: 'silent' });
  const ports = { deliveries, attempt: calls.attemptDelivery, clock, log };
  const pump = new QueueWorker(queueKinds.webhooks(ports, times), { clock, log, graceMs });
  return { calls, pump };
};
