import type { Metrics } from '../../adapters/http/metrics/metrics.ts';
import type { NameServer } from '../../adapters/nameserver/name-server.ts';

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
