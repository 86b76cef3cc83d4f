import { censusMeasures, outboxMeasures } from './stored-measures.ts';
import { rowsOf } from './measure.ts';

const everywhere = 'every process';

const build = rowsOf<{ readonly version: string; readonly node: string }>(everywhere);
export const buildMeasures = {
  animal_store_build_info: build.max(
    'Always 1; its labels say which release runs, and on which Node',
    ['version', 'node'],
    (labels) => [{ labels, value: 1 }],
  ),
};

const requests = rowsOf('every process that answered one');
const quota = rowsOf(everywhere);
const countedHere = {
  http_request_duration_seconds: requests.histogram(
    'Time to answer a request, by operation and status',
    ['operation', 'status'],
  ),
  quota_counts_locally: quota.max(
    '1 while Redis is away and this process counts requests alone',
    [],
  ),
};

const redis = rowsOf<{ readonly isAnswering: boolean }>('processes with `REDIS_URL`');
export const redisMeasures = {
  redis_away: redis.max('1 while Redis does not answer this process', [], ({ isAnswering }) =>
    isAnswering ? 0 : 1,
  ),
};

const eventLoop = rowsOf<{
  readonly meanSeconds: number;
  readonly p99Seconds: number;
  readonly maxSeconds: number;
  readonly noticed: number;
}>(everywhere);
export const eventLoopMeasures = {
  event_loop_delay_seconds: eventLoop.max(
    'Delay of the event loop since the last scrape',
    ['of'],
    ({ meanSeconds, p99Seconds, maxSeconds }) => [
      { labels: { of: 'mean' }, value: meanSeconds },
      { labels: { of: 'p99' }, value: p99Seconds },
      { labels: { of: 'max' }, value: maxSeconds },
    ],
  ),
  event_loop_blocked_total: eventLoop.counter(
    'Delays of the event loop of 200 ms and more; each is a line in the log',
    [],
    ({ noticed }) => noticed,
  ),
};

const pool = rowsOf<{ readonly all: number; readonly busy: number; readonly waiting: number }>(
  everywhere,
);
export const poolMeasures = {
  database_pool_connections: pool.sum(
    'Connections of this process to the database, busy or free; SQLite has one that writes',
    ['state'],
    ({ all, busy }) => [
      { labels: { state: 'busy' }, value: busy },
      { labels: { state: 'free' }, value: all - busy },
    ],
  ),
  database_pool_waiting: pool.sum(
    'Requests that wait for a connection to the database, or for their turn to write to SQLite',
    [],
    ({ waiting }) => waiting,
  ),
};

const disk = rowsOf<{ readonly bavail: number; readonly blocks: number; readonly bsize: number }>(
  everywhere,
);
export const diskMeasures = {
  data_disk_free_bytes: disk.min(
    'Free bytes on the disk of DATA_DIR, which has deploys and caches',
    [],
    ({ bavail, bsize }) => bavail * bsize,
  ),
  data_disk_size_bytes: disk.min(
    'Size of the disk of DATA_DIR',
    [],
    ({ blocks, bsize }) => blocks * bsize,
  ),
};

const objectStore = rowsOf<{ readonly isAway: boolean }>(
  'processes with `DEPLOYS_URL`, except those with the role `api` alone',
);
export const objectStoreMeasures = {
  object_store_away: objectStore.max(
    '1 while the object store does not answer reads of this process',
    [],
    ({ isAway }) => (isAway ? 1 : 0),
  ),
};

interface JobState {
  readonly name: string;
  readonly isShared: boolean;
  readonly endedWellAt: number;
  readonly failedAt: number;
  readonly intervalMs: number;
}
const jobs = rowsOf<readonly JobState[]>('every process, its own jobs');
const jobLabels = ({ name, isShared }: JobState) => ({
  job_name: name,
  done_by: isShared ? 'one' : 'each',
});
export const jobMeasures = {
  job_last_success_timestamp_seconds: jobs.max(
    'When the job last succeeded in this process, or when the process started to schedule it',
    ['job_name', 'done_by'],
    (all) => all.map((job) => ({ labels: jobLabels(job), value: job.endedWellAt / 1000 })),
  ),
  job_last_failure_timestamp_seconds: jobs.max(
    'When the job last failed in this process; 0 if it has not',
    ['job_name', 'done_by'],
    (all) => all.map((job) => ({ labels: jobLabels(job), value: job.failedAt / 1000 })),
  ),
  job_interval_seconds: jobs.max('Planned time between two runs of the job', ['job_name'], (all) =>
    all.map(({ name, intervalMs }) => ({ labels: { job_name: name }, value: intervalMs / 1000 })),
  ),
};
const jobRuns = {
  job_runs_total: jobs.counter(
    'Runs of scheduled jobs, by whether they failed; runs left to another process are not counted',
    ['job_name', 'outcome'],
  ),
  job_duration_seconds: jobs.histogram('How long runs of scheduled jobs took', ['job_name']),
};

const worker = rowsOf('role `worker`');
const countedByWorkers = {
  authority_orders_total: worker.counter('Orders for certificates that the authority accepted', [
    'authority',
  ]),
  authority_default_profiles_total: worker.counter(
    'Orders without the profile in `ACME_PROFILE`, because the authority does not offer it',
    ['authority'],
  ),
  authority_certificates_total: worker.counter('Certificates that the authority has issued', [
    'authority',
  ]),
  authority_failures_total: worker.counter(
    'Requests that the authority refused or did not answer, and orders that failed',
    ['authority', 'reason'],
  ),
  webhook_attempts_total: worker.counter(
    'Calls of webhooks by outcome; `rejected` means an answer other than 2xx',
    ['outcome'],
  ),
};

interface EdgeState {
  readonly hosts: number;
  readonly connections: number;
  readonly answers: number;
  readonly heldBytes: number;
  readonly requests: number;
  readonly refusedHandshakes: number;
  readonly refusedRequests: number;
  readonly failedRequests: number;
  readonly stalled: number;
}
const edge = rowsOf<EdgeState>('role `edge`');
export const edgeMeasures = {
  edge_hosts: edge.min('Hosts that this process serves', [], ({ hosts }) => hosts),
  edge_connections: edge.sum(
    'Open connections to both ports',
    [],
    ({ connections }) => connections,
  ),
  edge_answers: edge.sum(
    'Requests over TLS whose answers visitors have not received completely',
    [],
    ({ answers }) => answers,
  ),
  edge_held_bytes: edge.sum(
    'Memory held by answers that visitors have not received completely',
    [],
    ({ heldBytes }) => heldBytes,
  ),
  edge_requests_total: edge.counter(
    'Requests to the edge, including plain HTTP',
    [],
    (state) => state.requests,
  ),
  edge_refused_handshakes_total: edge.counter(
    'TLS handshakes that failed, most of them for names that are not served',
    [],
    ({ refusedHandshakes }) => refusedHandshakes,
  ),
  edge_refused_requests_total: edge.counter(
    'Requests refused because their network or all visitors together reached a limit',
    [],
    ({ refusedRequests }) => refusedRequests,
  ),
  edge_failed_requests_total: edge.counter(
    'Requests for sites answered with 500 or 503, or cut off, because a file could not be read',
    [],
    ({ failedRequests }) => failedRequests,
  ),
  edge_stalled_total: edge.counter(
    'Answers and connections ended because the visitor did not read',
    [],
    ({ stalled }) => stalled,
  ),
};

interface PlatformCertificate {
  readonly source: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}
const platform = rowsOf<{ readonly its: PlatformCertificate | undefined; readonly now: Date }>(
  'role `edge`',
);
const secondsUntilEnd = ({ source, notAfter }: PlatformCertificate, from: Date) => [
  { labels: { source }, value: (notAfter.getTime() - from.getTime()) / 1000 },
];
export const platformMeasures = {
  platform_certificate_left_seconds: platform.min(
    'How long the certificate for all names of the platform is still valid, from files or by delegation; absent while each project host has its own',
    ['source'],
    ({ its, now }) => its && secondsUntilEnd(its, now),
  ),
  platform_certificate_life_seconds: platform.min(
    'Lifetime of the certificate for all names of the platform',
    ['source'],
    ({ its }) => its && secondsUntilEnd(its, its.notBefore),
  ),
};

const parent = rowsOf('`PROCESSES` above 1');
const processes = {
  processes: parent.sum(
    'Serving processes of this service, and those that did not answer when asked for metrics',
    ['state'],
  ),
  processes_replaced_total: parent.counter('Processes replaced because they died', []),
};

interface NameServerState {
  readonly udp: Readonly<Record<string, number>>;
  readonly tcp: Readonly<Record<string, number>>;
  readonly truncated: number;
  readonly limited: number;
  readonly ignored: number;
  readonly unanswered: number;
  readonly connections: number;
  readonly refusedConnections: number;
}
const dns = rowsOf<NameServerState>('role `dns`');
export const nameServerMeasures = {
  dns_answers_total: dns.counter(
    'Answers to questions about the zone, by their code',
    ['transport', 'rcode'],
    (state) =>
      (['udp', 'tcp'] as const).flatMap((transport) =>
        Object.entries(state[transport]).map(([rcode, value]) => ({
          labels: { transport, rcode },
          value,
        })),
      ),
  ),
  dns_truncated_answers_total: dns.counter(
    'Truncated answers over UDP, which make resolvers repeat the question over TCP',
    [],
    ({ truncated }) => truncated,
  ),
  dns_limited_answers_total: dns.counter(
    'Truncated answers to networks beyond their limit',
    [],
    ({ limited }) => limited,
  ),
  dns_ignored_messages_total: dns.counter(
    'Messages without an answer: unreadable, or too many at once',
    [],
    ({ ignored }) => ignored,
  ),
  dns_failed_lookups_total: dns.counter(
    'Questions about challenges that the database did not answer in time',
    [],
    ({ unanswered }) => unanswered,
  ),
  dns_connections: dns.sum(
    'Open TCP connections of resolvers',
    [],
    ({ connections }) => connections,
  ),
  dns_refused_connections_total: dns.counter(
    'TCP connections refused or ended because their network or all together had too many',
    [],
    ({ refusedConnections }) => refusedConnections,
  ),
};

/** All our measures at /metrics. docs/metrics.md is generated from this table; other measures cannot be shown. */
export const measures = {
  ...buildMeasures,
  ...countedHere,
  ...redisMeasures,
  ...eventLoopMeasures,
  ...poolMeasures,
  ...diskMeasures,
  ...objectStoreMeasures,
  ...jobRuns,
  ...jobMeasures,
  ...countedByWorkers,
  ...outboxMeasures,
  ...censusMeasures,
  ...edgeMeasures,
  ...platformMeasures,
  ...processes,
  ...nameServerMeasures,
};

export type MeasureName = keyof typeof measures;
type OfType<Type> = {
  [Name in MeasureName]: (typeof measures)[Name]['type'] extends Type ? Name : never;
}[MeasureName];
export type CounterName = OfType<'counter'>;
export type HistogramName = OfType<'histogram'>;

export type LabelsOf<Name extends MeasureName> = Readonly<
  Record<(typeof measures)[Name]['labels'][number], string>
>;

export interface Tally {
  /** @param by 0 shows the counter before its first increase, so that Prometheus sees that increase */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  time<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void;
}
