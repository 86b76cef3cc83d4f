import { counter, sumOf, type Measure } from './measure.ts';

const from = 'role `dns`';

export const nameserverMeasures = {
  dns_answers_total: {
    ...counter,
    labels: ['transport', 'rcode'],
    help: 'Answers to questions about the zone, by their code',
    from,
  },
  dns_truncated_answers_total: {
    ...counter,
    labels: [],
    help: 'Answers over UDP without their records, so that the asker comes again over TCP',
    from,
  },
  dns_limited_answers_total: {
    ...counter,
    labels: [],
    help: 'Of these, answers to networks that had asked too much',
    from,
  },
  dns_ignored_messages_total: {
    ...counter,
    labels: [],
    help: 'Messages that got no answer: no questions, or too many at once',
    from,
  },
  dns_failed_lookups_total: {
    ...counter,
    labels: [],
    help: 'Questions about challenges that the database did not answer in time',
    from,
  },
  dns_connections: {
    ...sumOf,
    labels: [],
    help: 'Open TCP connections of askers',
    from,
  },
  dns_refused_connections_total: {
    ...counter,
    labels: [],
    help: 'TCP connections refused or ended because their network, or all together, had too many',
    from,
  },
} as const satisfies Readonly<Record<string, Measure>>;
