import { measures, type MeasureName } from '../../src/adapters/http/metrics/measures.ts';
import { rcodes } from '../../src/adapters/nameserver/zone.ts';
import { apiJobs, workerJobs, type WorkerPorts } from '../../src/app/jobs.ts';
import { attemptOutcomes } from '../../src/app/wiring/queues.ts';
import {
  certificateStates,
  domainKinds,
  percentLeftRanges,
} from '../../src/domains/domain/attachment/census.ts';
import { customDomainStates } from '../../src/domains/domain/attachment/custom-domain.ts';
import { sharedBudgets } from '../../src/domains/domain/certificates/ca-budget.ts';
import { authorityFailureReasons } from '../../src/domains/domain/certificates/certificate-status.ts';
import { responsibles } from '../../src/domains/domain/dns/problem.ts';
import { deployStates } from '../../src/sites/domain/site.ts';
import { byHand, code, list, type Printed, table } from './markdown.ts';

const nothing: WorkerPorts = new Proxy((() => nothing) as unknown as WorkerPorts, {
  get: (_, port) => (port === 'verifierSchedule' ? '* * * * * *' : nothing),
});
const jobs = [...workerJobs(nothing), ...apiJobs({} as never, {} as never, {} as never)].map(
  ({ name }) => name,
);

/** The label values that code lists. The page describes the others. */
const values: Readonly<Record<string, readonly string[]>> = {
  job_name: jobs,
  'authority_failures_total{reason}': authorityFailureReasons,
  'webhook_attempts_total{outcome}': attemptOutcomes,
  'dns_answers_total{rcode}': Object.keys(rcodes),
  'custom_domains{state}': customDomainStates,
  'custom_domains{health}': [...new Set(domainKinds.map(({ health }) => health))],
  'custom_domains{actor}': responsibles,
  'served_certificates{state}': certificateStates,
  'served_certificates{percent_left}': percentLeftRanges,
  'deploys{state}': deployStates,
  budget: sharedBudgets,
};
/** Labels with the same values everywhere. */
const shared = ['job_name', 'done_by', 'authority', 'budget', 'source'];

export const metricTables = (): Readonly<Record<string, Printed>> => {
  const names = Object.keys(measures) as MeasureName[];
  const labels = names.flatMap((name) =>
    measures[name].labels.map((label) => (shared.includes(label) ? label : `${name}{${label}}`)),
  );
  return {
    metrics: table(
      ['Metric', 'Type', 'Labels', 'Over processes', 'Meaning', 'Shown by'],
      names.map((name) => {
        const { type, labels: own, together, help, from } = measures[name];
        return [code(name), type, own.length > 0 ? list(own) : '–', together, help, from];
      }),
    ),
    labels: table(
      ['Label', 'Values'],
      [...new Set(labels)].map((label) => {
        const listed = values[label];
        return [code(label), listed ? list(listed) : byHand];
      }),
    ),
  };
};
