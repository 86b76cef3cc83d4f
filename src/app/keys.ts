import type { ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { Access } from '../access/access.ts';
import type { Dashboard } from '../adapters/dashboard/dashboard.ts';
import type { EdgeServer } from '../adapters/edge/edge-server.ts';
import type { WatchedPlatformFiles } from '../adapters/edge/platform-files.ts';
import type { RouteTable } from '../adapters/edge/route-table.ts';
import type { Handler, HttpServer } from '../adapters/http/listener/http-server.ts';
import type { Metrics } from '../adapters/http/metrics/metrics.ts';
import type { NameServer } from '../adapters/nameserver/name-server.ts';
import type { RedisQuotaCounters } from '../adapters/redis/redis-quota-counters.ts';
import type { RedisSignals } from '../adapters/redis/redis-signals.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { CertificateAuthority } from '../domains/certificate-ports.ts';
import type { Domains } from '../domains/domains.ts';
import type { Postman } from '../notifications/ports.ts';
import type { Notifications, WebhookCalls } from '../notifications/notifications.ts';
import type { Sites } from '../sites/sites.ts';
import type { Bells, Queues } from './queues.ts';
import type { Config } from './settings/settings.ts';

// Container keys for values that are not classes. Ports are their own keys.
const key = <T>(name: string) => Symbol(name) as ServiceIdentifier<T>;

export const ConfigKey = key<Config>('config');
export const SecretKey = key<Uint8Array>('secret key');
export const PreviousSecretKeys = key<readonly Uint8Array[]>('previous secret keys');
export const LogKey = key<Logger>('log');
export const ProcessKey = key<string>('process');
export const CatalogueKey = key<Catalogue>('catalogue');
export const AccessKey = key<Access>('access');
export const DomainsKey = key<Domains>('domains');
export const NotificationsKey = key<Notifications>('notifications');
export const PostmanKey = key<{ readonly postman: Postman | undefined }>('postman');
export const WebhookCallsKey = key<WebhookCalls>('webhook calls');
export const SitesKey = key<Sites>('sites');
export const BellsKey = key<Bells>('bells');
export const QueuesKey = key<Queues>('queues');
export const SecondAuthorityKey = key<{ readonly authority: CertificateAuthority | undefined }>(
  'second authority',
);
export const MetricsKey = key<Metrics>('metrics');
export const RequestHandlerKey = key<Handler>('request handler');
export const OperationsKey = key<HttpServer>('operations');
export const EdgeServerKey = key<EdgeServer>('edge');
export const RouteTableKey = key<RouteTable>('routes');
export const PlatformFilesKey = key<{ readonly files: WatchedPlatformFiles | undefined }>(
  'platform files',
);
export const NameServerKey = key<NameServer>('name server');
export const RedisCountersKey = key<RedisQuotaCounters>('counters in Redis');
export const RedisSignalsKey = key<RedisSignals>('signals by Redis');
export const DashboardKey = key<Dashboard>('dashboard');
