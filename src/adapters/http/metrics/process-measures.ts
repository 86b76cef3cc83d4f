import { counter, histogram, maxOf, minOf, sumOf, type Measure } from './measure.ts';

export const processMeasures = {
  animal_store_build_info: {
    ...maxOf,
    labels: ['version', 'node'],
    help: 'Always 1; its labels say which release runs, and on which Node',
    from: 'every process',
  },
  http_request_duration_seconds: {
    ...histogram,
    unit: 'seconds',
    labels: ['operation', 'status'],
    help: 'Time to answer a request, by operation and status',
    from: 'every process that answered one',
  },
  quota_counts_locally: {
    ...maxOf,
    labels: [],
    help: '1 while Redis is away and this process counts requests by itself',
    from: 'every process',
  },
  redis_away: {
    ...maxOf,
    labels: [],
    help: '1 while Redis does not answer this process, which asks it every second',
    from: 'processes with `REDIS_URL`',
  },
  event_loop_delay_seconds: {
    ...maxOf,
    unit: 'seconds',
    labels: ['of'],
    help: 'How late the event loop was since the last scrape',
    from: 'every process',
  },
  event_loop_blocked_total: {
    ...counter,
    labels: [],
    help: 'Delays of the event loop of 200 ms and more; each is a line in the log',
    from: 'every process',
  },
  database_pool_connections: {
    ...sumOf,
    labels: ['state'],
    help: 'Connections to the database that this process may use, by whether they are in use; SQLite has one that writes',
    from: 'every process',
  },
  database_pool_waiting: {
    ...sumOf,
    labels: [],
    help: 'Callers that wait for a connection to the database, or for their turn to write to SQLite',
    from: 'every process',
  },
  data_disk_free_bytes: {
    ...minOf,
    unit: 'bytes',
    labels: [],
    help: 'Free bytes on the disk of DATA_DIR, where deploys and caches lie',
    from: 'every process',
  },
  data_disk_size_bytes: {
    ...minOf,
    unit: 'bytes',
    labels: [],
    help: 'Size of that disk',
    from: 'every process',
  },
  object_store_away: {
    ...maxOf,
    labels: [],
    help: '1 while the object store does not answer reads of this process',
    from: 'processes with `DEPLOYS_URL`, except those with the role `api` alone',
  },
} as const satisfies Readonly<Record<string, Measure>>;
