import { forgottenBefore } from '../access/domain/idempotency.ts';
import type { IdempotencyKeys } from '../access/ports.ts';
import type { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import type { Job } from '../adapters/schedule/cron-jobs.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Outbox } from '../kernel/outbox.ts';

export interface JobPorts {
  readonly relay: OutboxRelay;
  readonly outbox: Outbox;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly clock: Clock;
}

const keepEventsMs = 7 * 24 * 60 * 60 * 1000;

/** Everything that runs by itself, and when. */
export const jobs = ({ relay, outbox, idempotencyKeys, clock }: JobPorts): readonly Job[] => [
  { name: 'relay events', schedule: '* * * * * *', run: () => relay.run() },
  {
    name: 'forget delivered events',
    schedule: '17 23 * * * *',
    run: () => outbox.sweep(new Date(clock.now().getTime() - keepEventsMs)),
  },
  {
    name: 'forget idempotency keys',
    schedule: '43 41 * * * *',
    run: () => idempotencyKeys.sweep(forgottenBefore(clock.now())),
  },
];
