import { counter, minOf, sumOf, type Measure } from './measure.ts';

export const edgeMeasures = {
  edge_hosts: {
    ...minOf,
    labels: [],
    help: 'Hosts that this process serves',
    from: 'role `edge`',
  },
  edge_connections: {
    ...sumOf,
    labels: [],
    help: 'Open connections to both ports',
    from: 'role `edge`',
  },
  edge_answers: {
    ...sumOf,
    labels: [],
    help: 'Requests over TLS whose answers visitors have not received completely',
    from: 'role `edge`',
  },
  edge_held_bytes: {
    ...sumOf,
    unit: 'bytes',
    labels: [],
    help: 'Memory that these answers hold',
    from: 'role `edge`',
  },
  edge_requests_total: {
    ...counter,
    labels: [],
    help: 'Requests to the edge, including plain HTTP',
    from: 'role `edge`',
  },
  edge_refused_handshakes_total: {
    ...counter,
    labels: [],
    help: 'TLS handshakes that failed, most of them for names that are not served',
    from: 'role `edge`',
  },
  edge_refused_requests_total: {
    ...counter,
    labels: [],
    help: 'Requests refused because their network, or all visitors together, held too much',
    from: 'role `edge`',
  },
  edge_failed_requests_total: {
    ...counter,
    labels: [],
    help: 'Requests for sites answered with 500 or 503, or broken off, because a file could not be read',
    from: 'role `edge`',
  },
  edge_stalled_total: {
    ...counter,
    labels: [],
    help: 'Answers and connections ended because visitors read nothing',
    from: 'role `edge`',
  },
  platform_certificate_left_seconds: {
    ...minOf,
    unit: 'seconds',
    labels: ['source'],
    help: 'How long the certificate for all names of the platform is still valid, from the files of the operator or ordered by delegation; left out while each host of a project has its own',
    from: 'role `edge`',
  },
  platform_certificate_life_seconds: {
    ...minOf,
    unit: 'seconds',
    labels: ['source'],
    help: 'How long that certificate is valid in all',
    from: 'role `edge`',
  },
  processes: {
    ...sumOf,
    labels: ['state'],
    help: 'Processes of this service that serve, and those of them that did not answer for their metrics',
    from: '`PROCESSES` above 1',
  },
  processes_replaced_total: {
    ...counter,
    labels: [],
    help: 'Processes that were replaced because they ended unexpectedly',
    from: '`PROCESSES` above 1',
  },
} as const satisfies Readonly<Record<string, Measure>>;
