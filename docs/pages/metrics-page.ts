import { measures, type MeasureName } from '../../src/adapters/http/metrics/measures.ts';
import type { Together } from '../../src/adapters/http/metrics/measure.ts';
import { rcodes } from '../../src/adapters/nameserver/zone.ts';
import { attemptOutcomes } from '../../src/app/wiring/queues.ts';
import { apiJobs, workerJobs, type WorkerPorts } from '../../src/app/jobs.ts';
import {
  certificateStates,
  percentLeftRanges,
  domainKinds,
} from '../../src/domains/domain/attachment/census.ts';
import { customDomainStates } from '../../src/domains/domain/attachment/custom-domain.ts';
import { sharedBudgets } from '../../src/domains/domain/certificates/ca-budget.ts';
import { authorityFailureReasons } from '../../src/domains/domain/certificates/certificate-status.ts';
import { responsibles } from '../../src/domains/domain/dns/problem.ts';
import { deployStates } from '../../src/sites/domain/site.ts';
import { code, list, page, printed, table } from './markdown.ts';

type LabelOf<Name extends MeasureName> = (typeof measures)[Name]['labels'][number];
/** A list of all values, or in words where they depend on the settings. */
type Values = readonly string[] | string;

/** Only their names and schedules are asked for. */
const nothing: WorkerPorts = new Proxy((() => nothing) as unknown as WorkerPorts, {
  get: (_, port) => (port === 'verifierSchedule' ? '* * * * * *' : nothing),
});
const jobs = [...workerJobs(nothing), ...apiJobs({} as never, {} as never, {} as never)].map(
  ({ name }) => name,
);
const doers = '`each` process by itself, or `one` of all at a time, whose success is that of all';
const authority = 'the host of `ACME_DIRECTORY_URL` or `ACME_FALLBACK_DIRECTORY_URL`, or `local`';

/** The values of every label. A new label does not compile until they are told. */
const labelValues: { readonly [Name in MeasureName]: Readonly<Record<LabelOf<Name>, Values>> } = {
  animal_store_build_info: {
    version: 'the release; in a checkout with the commit, like `1.0.0+2b70b8c`',
    node: 'the version of Node',
  },
  http_request_duration_seconds: {
    operation: ['listPets', 'createPet', 'getPet', 'listOrders', 'dashboard', 'none'],
    status: 'the HTTP status; `429` counts refused requests',
  },
  quota_counts_locally: {},
  redis_away: {},
  event_loop_delay_seconds: { of: ['mean', 'p99', 'max'] },
  event_loop_blocked_total: {},
  database_pool_connections: { state: ['busy', 'free'] },
  database_pool_waiting: {},
  data_disk_free_bytes: {},
  data_disk_size_bytes: {},
  object_store_away: {},
  job_runs_total: { job_name: jobs, outcome: ['succeeded', 'failed'] },
  job_duration_seconds: { job_name: jobs },
  job_last_success_timestamp_seconds: { job_name: jobs, done_by: doers },
  job_last_failure_timestamp_seconds: { job_name: jobs, done_by: doers },
  job_interval_seconds: { job_name: jobs },
  authority_orders_total: { authority },
  authority_default_profiles_total: { authority },
  authority_certificates_total: { authority },
  authority_failures_total: { authority, reason: authorityFailureReasons },
  webhook_attempts_total: { outcome: attemptOutcomes },
  edge_hosts: {},
  edge_connections: {},
  edge_answers: {},
  edge_held_bytes: {},
  edge_requests_total: {},
  edge_refused_handshakes_total: {},
  edge_refused_requests_total: {},
  edge_failed_requests_total: {},
  edge_stalled_total: {},
  platform_certificate_left_seconds: { source: ['files', 'delegation'] },
  platform_certificate_life_seconds: { source: ['files', 'delegation'] },
  dns_answers_total: { transport: ['udp', 'tcp'], rcode: Object.keys(rcodes) },
  dns_truncated_answers_total: {},
  dns_limited_answers_total: {},
  dns_ignored_messages_total: {},
  dns_failed_lookups_total: {},
  dns_connections: {},
  dns_refused_connections_total: {},
  processes: { state: ['serving', 'silent'] },
  processes_replaced_total: {},
  outbox_deliveries: { state: ['waiting', 'parked'] },
  outbox_oldest_age_seconds: { state: ['waiting', 'parked'] },
  census_timestamp_seconds: {},
  custom_domains: {
    state: customDomainStates,
    health: [...new Set(domainKinds.map(({ health }) => health))],
    actor: responsibles,
  },
  served_certificates: { state: certificateStates, percent_left: percentLeftRanges },
  authority_budget_left: { authority, budget: sharedBudgets },
  authority_budget_size: { authority, budget: sharedBudgets },
  deploys: { state: deployStates },
  mails_waiting: {},
  mail_oldest_age_seconds: {},
  mail_unreached_people: {},
  deploys_kept_bytes: {},
  webhook_deliveries: {},
  webhook_overdue_seconds: {},
  webhooks_given_up: {},
  last_backup_timestamp_seconds: {},
  last_checked_backup_timestamp_seconds: {},
  backups_known_since_timestamp_seconds: {},
};

const names = Object.keys(measures) as MeasureName[];

const how: Readonly<Record<Together, string>> = {
  sum: '`sum`: each process counts its own',
  max: '`max`: processes show the same, or the worst one matters',
  min: '`min`: the least matters',
};

export const metricsPage = (): string =>
  page(
    '# Metrics',
    printed('src/adapters/http/metrics'),
    '`/metrics` shows these, in the text format of Prometheus. How to scrape it, and what to be woken by: ' +
      '[running it](running.md#monitoring). What to do then: [runbook](runbook.md).',
    '"Over processes" says how to make one number of several processes or machines, such as `sum(edge_connections)` or ' +
      '`max(custom_domains) by (state)`. With `PROCESSES` above 1 the service does that by itself for its processes on one ' +
      'machine. Counters start at 0 with each process; use `rate` or `increase`.',
    `- ${Object.values(how).join('\n- ')}`,
    table(
      ['Metric', 'Type', 'Labels', 'Over processes', 'Meaning', 'Shown by'],
      names.map((name) => {
        const { type, labels, together, help, from } = measures[name];
        return [code(name), type, labels.length > 0 ? list(labels) : '–', together, help, from];
      }),
    ),
    'Besides, `process_*` and `nodejs_*` are memory, CPU, event loop and garbage collection of each process, as `prom-client` ' +
      'measures them. Of several processes under one parent, memory, CPU and handles are sums without the parent, delays are ' +
      'averages, and `process_start_time_seconds` is left out.',
    '## Values of the labels',
    'No label has a host, an account or a path, so their number stays small.',
    table(
      ['Metric', 'Label', 'Values'],
      names.flatMap((name) =>
        Object.entries<Values>(labelValues[name]).map(([label, values]) => {
          return [code(name), code(label), typeof values === 'string' ? values : list(values)];
        }),
      ),
    ),
  );
