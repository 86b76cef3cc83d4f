import { forgottenBefore } from '../access/domain/idempotency.ts';
import type { Sessions, SignInLinks } from '../access/people-ports.ts';
import type { IdempotencyKeys } from '../access/ports.ts';
import type { CounterSnapshots } from '../access/quota-ports.ts';
import type { UsageLog } from '../access/usage-ports.ts';
import type { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import type { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import type { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import type { Job } from '../adapters/schedule/cron-jobs.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Outbox } from '../kernel/outbox.ts';
import type { LeasedJob } from '../adapters/schedule/leased-job.ts';
import type { DueDomains } from '../adapters/schedule/due-domains.ts';
import type { AuthorityLedger, Timeline } from '../domains/ports.ts';
import type { EdgeRecords } from '../sites/ports.ts';
import type { Sites } from '../sites/sites.ts';
import { hiddenTypes } from './subscriptions.ts';

const day = 24 * 60 * 60 * 1000;
const keepHiddenEventsMs = 7 * day;
const keepCountersMs = 3 * day;
const keepUsageMs = 90 * day;
const keepSignInsMs = day;
const keepRemovedRoutesMs = day;
const keepLedgerMs = 8 * day;
const keepTimelineMs = 90 * day;

export interface WorkerPorts {
  readonly relay: OutboxRelay;
  readonly outbox: Outbox;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly counterSnapshots: CounterSnapshots;
  readonly usage: UsageLog;
  readonly sessions: Sessions;
  readonly signInLinks: SignInLinks;
  readonly edgeRecords: EdgeRecords;
  readonly sites: Pick<Sites, 'giveUpCutOffUploads'>;
  readonly secureSites: LeasedJob;
  readonly planRenewals: LeasedJob;
  readonly dueDomains: DueDomains;
  readonly ledger: AuthorityLedger;
  readonly timeline: Timeline;
  /** node-cron expression. */
  readonly verifierSchedule: string;
  readonly clock: Clock;
}

/** All scheduled jobs of a worker. */
export const workerJobs = (ports: WorkerPorts): readonly Job[] => {
  const ago = (milliseconds: number) => new Date(ports.clock.now().getTime() - milliseconds);
  return [
    { name: 'relay events', schedule: '* * * * * *', run: () => ports.relay.run() },
    {
      name: 'forget events that the audit log hides',
      schedule: '17 23 * * * *',
      run: () => ports.outbox.sweep(hiddenTypes, ago(keepHiddenEventsMs)),
    },
    {
      name: 'forget idempotency keys',
      schedule: '43 41 * * * *',
      run: () => ports.idempotencyKeys.sweep(forgottenBefore(ports.clock.now())),
    },
    {
      name: 'forget counters',
      schedule: '31 11 * * * *',
      run: () => ports.counterSnapshots.sweep(ago(keepCountersMs)),
    },
    {
      name: 'forget usage',
      schedule: '7 53 * * * *',
      run: () => ports.usage.sweep(ago(keepUsageMs)),
    },
    {
      name: 'forget sessions that are over',
      schedule: '23 31 * * * *',
      run: () => ports.sessions.sweep(ago(keepSignInsMs)),
    },
    {
      name: 'forget sign-in links that are over',
      schedule: '37 33 * * * *',
      run: () => ports.signInLinks.sweep(ago(keepSignInsMs)),
    },
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
    {
      name: 'forget what the authority was asked',
      schedule: '3 29 * * * *',
      run: () => ports.ledger.sweep(ago(keepLedgerMs)),
    },
    {
      name: 'forget old entries of timelines',
      schedule: '11 17 * * * *',
      run: () => ports.timeline.sweep(ago(keepTimelineMs)),
    },
    {
      name: 'forget removed routes',
      schedule: '53 37 * * * *',
      run: () => ports.edgeRecords.sweep(ago(keepRemovedRoutesMs)),
    },
  ];
};

export interface ApiJobPorts {
  /** Absent where Redis counts. */
  readonly counters: CounterKeeper | undefined;
  readonly usage: UsageRecorder;
}

/** The scheduled jobs of a process that answers API requests. */
export const apiJobs = ({ counters, usage }: ApiJobPorts): readonly Job[] => [
  ...(counters
    ? [{ name: 'keep counters', schedule: '* * * * * *', run: () => counters.save() }]
    : []),
  { name: 'store usage', schedule: '*/5 * * * * *', run: () => usage.flush() },
];
