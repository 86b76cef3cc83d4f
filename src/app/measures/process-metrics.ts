import { statfs } from 'node:fs/promises';
import type { ResolutionContext } from 'inversify';
import type { EdgeServer } from '../../adapters/edge/edge-server.ts';
import type { RouteTable } from '../../adapters/edge/route-table.ts';
import { Metrics } from '../../adapters/http/metrics/metrics.ts';
import { Database } from '../../adapters/kysely/database.ts';
import type { NameServer } from '../../adapters/nameserver/name-server.ts';
import type { RedisQuotaCounters } from '../../adapters/redis/redis-quota-counters.ts';
import { EventLoopWatch } from '../../adapters/system/event-loop-watch.ts';
import { Clock } from '../../kernel/clock.ts';
import { Outbox, type OutboxState } from '../../kernel/outbox.ts';
import { ConfigKey, RedisCountersKey } from '../keys.ts';
import { version } from '../version.ts';

/** What every process measures, whatever its roles. */
export const processMetrics = (c: ResolutionContext): Metrics => {
  const metrics = new Metrics();
  const { dataDir, redisUrl } = c.get(ConfigKey);
  showBuild(metrics, version());
  showEventLoop(metrics, c.get(EventLoopWatch));
  showPool(metrics, c.get(Database));
  showDisk(metrics, dataDir);
  showOutbox(metrics, c.get(Outbox), c.get(Clock));
  if (redisUrl !== undefined) showRedis(metrics, c.get(RedisCountersKey));
  return metrics;
};

/** Read at each scrape, and by each process: deliveries wait above all while no worker runs. */
export const showOutbox = (
  metrics: Metrics,
  outbox: Pick<Outbox, 'state' | 'oldest'>,
  clock: Clock,
): void => {
  metrics.show(['outbox_deliveries', 'outbox_oldest_age_seconds'], async () => {
    const [counts, oldest] = [await outbox.state(), await outbox.oldest()];
    const now = clock.now().getTime();
    const states = Object.keys(counts) as (keyof OutboxState)[];
    const ageOf = (at = new Date(now)) => Math.max(0, now - at.getTime()) / 1000;
    return {
      outbox_deliveries: states.map((state) => ({ labels: { state }, value: counts[state] })),
      outbox_oldest_age_seconds: states.map((state) => {
        return { labels: { state }, value: ageOf(oldest[state]) };
      }),
    };
  });
};

const showBuild = (metrics: Metrics, version: string): void => {
  const info = [{ labels: { version, node: process.versions.node }, value: 1 }];
  metrics.show(['animal_store_build_info'], () => ({ animal_store_build_info: info }));
};

export const showEventLoop = (metrics: Metrics, watch: Pick<EventLoopWatch, 'state'>): void => {
  metrics.show(['event_loop_delay_seconds', 'event_loop_blocked_total'], () => {
    const { meanSeconds, p99Seconds, maxSeconds, noticed } = watch.state();
    return {
      event_loop_delay_seconds: [
        { labels: { of: 'mean' }, value: meanSeconds },
        { labels: { of: 'p99' }, value: p99Seconds },
        { labels: { of: 'max' }, value: maxSeconds },
      ],
      event_loop_blocked_total: noticed,
    };
  });
};

const showPool = (metrics: Metrics, database: Pick<Database, 'engine'>): void => {
  metrics.show(['database_pool_connections', 'database_pool_waiting'], () => {
    const { all, busy, waiting } = database.engine.connections.load();
    return {
      database_pool_connections: [
        { labels: { state: 'busy' }, value: busy },
        { labels: { state: 'free' }, value: all - busy },
      ],
      database_pool_waiting: waiting,
    };
  });
};

const showDisk = (metrics: Metrics, folder: string): void => {
  metrics.show(['data_disk_free_bytes', 'data_disk_size_bytes'], async () => {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { data_disk_free_bytes: bavail * bsize, data_disk_size_bytes: blocks * bsize };
  });
};

const showRedis = (
  metrics: Metrics,
  counters: Pick<RedisQuotaCounters, 'isAnswering'>,
): void => {
  metrics.show(['redis_away'], () => ({ redis_away: counters.isAnswering ? 0 : 1 }));
};

export const showPlatformCertificate = (
  metrics: Metrics,
  routes: Pick<RouteTable, 'platformCertificate'>,
  clock: Clock,
): void => {
  const names = ['platform_certificate_left_seconds', 'platform_certificate_life_seconds'] as const;
  metrics.show(names, () => {
    const its = routes.platformCertificate;
    const secondsSince = (from: Date) =>
      its && [
        {
          labels: { source: its.source },
          value: (its.notAfter.getTime() - from.getTime()) / 1000,
        },
      ];
    return {
      platform_certificate_left_seconds: secondsSince(clock.now()),
      platform_certificate_life_seconds: its && secondsSince(its.notBefore),
    };
  });
};

export const showEdge = (metrics: Metrics, edge: Pick<EdgeServer, 'state'>): void => {
  const names = [
    ...['edge_hosts', 'edge_connections', 'edge_answers', 'edge_held_bytes'],
    ...['edge_requests_total', 'edge_refused_handshakes_total'],
    ...['edge_refused_requests_total', 'edge_failed_requests_total', 'edge_stalled_total'],
  ] as const;
  metrics.show(names, () => {
    const state = edge.state();
    return {
      edge_hosts: state.hosts,
      edge_connections: state.connections,
      edge_answers: state.answers,
      edge_held_bytes: state.heldBytes,
      edge_requests_total: state.requests,
      edge_refused_handshakes_total: state.refusedHandshakes,
      edge_refused_requests_total: state.refusedRequests,
      edge_failed_requests_total: state.failedRequests,
      edge_stalled_total: state.stalled,
    };
  });
};

export const showNameServer = (metrics: Metrics, server: Pick<NameServer, 'state'>): void => {
  const names = [
    ...['dns_answers_total', 'dns_truncated_answers_total', 'dns_limited_answers_total'],
    ...['dns_ignored_messages_total', 'dns_failed_lookups_total'],
    ...['dns_connections', 'dns_refused_connections_total'],
  ] as const;
  metrics.show(names, () => {
    const state = server.state();
    return {
      dns_answers_total: (['udp', 'tcp'] as const).flatMap((transport) =>
        Object.entries(state[transport]).map(([rcode, value]) => {
          return { labels: { transport, rcode }, value };
        }),
      ),
      dns_truncated_answers_total: state.truncated,
      dns_limited_answers_total: state.limited,
      dns_ignored_messages_total: state.ignored,
      dns_failed_lookups_total: state.unanswered,
      dns_connections: state.connections,
      dns_refused_connections_total: state.refusedConnections,
    };
  });
};
