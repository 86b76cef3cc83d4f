import type { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import type { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import type { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import type { Job } from '../adapters/schedule/cron-jobs.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Retention } from '../kernel/retention.ts';
import type { LeasedJob } from '../adapters/schedule/leased-job.ts';
import type { DueDomains } from '../adapters/schedule/due-domains.ts';
import type { Sites } from '../sites/sites.ts';
import { sweptTables } from './retention.ts';

export interface WorkerPorts {
  readonly relay: OutboxRelay;
  readonly retention: Retention;
  readonly sites: Pick<Sites, 'giveUpCutOffUploads'>;
  readonly secureSites: LeasedJob;
  readonly planRenewals: LeasedJob;
  readonly dueDomains: DueDomains;
  /** node-cron expression. */
  readonly verifierSchedule: string;
  readonly clock: Clock;
}

export const workerJobs = (ports: WorkerPorts): readonly Job[] => [
  { name: 'relay events', schedule: '* * * * * *', run: () => ports.relay.run() },
  {
    name: 'give up cut-off uploads',
    schedule: '29 */5 * * * *',
    run: () => ports.sites.giveUpCutOffUploads(),
  },
  {
    name: 'issue and renew certificates',
    schedule: '13 * * * * *',
    run: () => ports.secureSites.run(),
  },
  {
    name: 'check domains and work on their certificates',
    schedule: ports.verifierSchedule,
    run: () => ports.dueDomains.run(),
  },
  {
    name: 'plan renewals',
    schedule: '47 7 */12 * * *',
    run: () => ports.planRenewals.run(),
  },
  ...forgetting(ports),
];

/** Each table by itself, so that a failure does not affect the others; not all in the same minute. */
const forgetting = ({ retention, clock }: Pick<WorkerPorts, 'retention' | 'clock'>) =>
  sweptTables.map(({ table, what, keptMs }, at): Job => ({
    name: `forget ${what}`,
    schedule: `17 ${String(5 * at + 3)} * * * *`,
    run: () => retention.sweep(table, new Date(clock.now().getTime() - keptMs)),
  }));

/** The scheduled jobs of a process that answers API requests. @param counters undefined where Redis counts */
export const apiJobs = (
  usage: UsageRecorder,
  counters: CounterKeeper | undefined,
): readonly Job[] => [
  ...(counters
    ? [{ name: 'keep counters', schedule: '* * * * * *', run: () => counters.save() }]
    : []),
  { name: 'store usage', schedule: '*/5 * * * * *', run: () => usage.flush() },
];
