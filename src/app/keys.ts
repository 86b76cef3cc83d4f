import type { Logger } from 'pino';
import type { ServiceIdentifier } from 'inversify';
import type { Access } from '../access/access.ts';
import type { Dashboard } from '../adapters/dashboard/dashboard.ts';
import type { RedisQuotaCounters } from '../adapters/redis/redis-quota-counters.ts';
import type { RedisSignals } from '../adapters/redis/redis-signals.ts';
import type { EdgeServer } from '../adapters/edge/edge-server.ts';
import type { RouteTable } from '../adapters/edge/route-table.ts';
import type { HttpServer } from '../adapters/http/listener/http-server.ts';
import type { Metrics } from '../adapters/http/metrics.ts';
import type { LeasedJob } from '../adapters/schedule/leased-job.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { Domains } from '../domains/domains.ts';
import type { Sites } from '../sites/sites.ts';
import type { Config } from './settings/config.ts';

// Container keys for values that are no classes. Ports are their own keys.
const key = <T>(name: string) => Symbol(name) as ServiceIdentifier<T>;

export const ConfigKey = key<Config>('config');
export const SecretKey = key<Uint8Array>('secret key');
/** The replaced keys, which still open and verify older values. */
export const PreviousSecretKeys = key<readonly Uint8Array[]>('previous secret keys');
export const LogKey = key<Logger>('log');
/** Identifies this process within a fleet. */
export const ProcessKey = key<string>('process');
export const CatalogueKey = key<Catalogue>('catalogue');
export const AccessKey = key<Access>('access');
export const DomainsKey = key<Domains>('domains');
export const SitesKey = key<Sites>('sites');
/** Certificates for the hosts of projects. */
export const SecureSitesKey = key<LeasedJob>('secure sites');
export const PlanRenewalsKey = key<LeasedJob>('plan renewals');
export const MetricsKey = key<Metrics>('metrics');
/** Health and metrics, where they have a port of their own. */
export const OperationsKey = key<HttpServer>('operations');
/** Bound where the edge runs. */
export const EdgeServerKey = key<EdgeServer>('edge');
export const RouteTableKey = key<RouteTable>('routes');
/** Bound where REDIS_URL is set. */
export const RedisCountersKey = key<RedisQuotaCounters>('counters in Redis');
export const RedisSignalsKey = key<RedisSignals>('signals by Redis');
export const DashboardKey = key<Dashboard>('dashboard');
