import { ContainerModule } from 'inversify';
import { AuditLog, IdempotencyKeys, KeyMaterial } from '../access/ports.ts';
import { EventBus } from '../adapters/events/event-bus.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { apiApp } from '../adapters/http/api.ts';
import type { AnsweredRequest } from '../adapters/http/framing.ts';
import { HttpServer } from '../adapters/http/http-server.ts';
import { Metrics } from '../adapters/http/metrics.ts';
import { Database } from '../adapters/kysely/database.ts';
import { migrationStates } from '../adapters/kysely/migrations.ts';
import { UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import { RedisQuotaCounters } from '../adapters/redis/redis-quota-counters.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { AesGcmSealer } from '../adapters/system/aes-gcm-sealer.ts';
import { NodeKeyMaterial } from '../adapters/system/node-key-material.ts';
import { SystemClock } from '../adapters/system/system-clock.ts';
import { UuidIds } from '../adapters/system/uuid-ids.ts';
import { Clock } from '../kernel/clock.ts';
import { Ids } from '../kernel/ids.ts';
import { Outbox } from '../kernel/outbox.ts';
import { Sealer } from '../kernel/sealer.ts';
import { AccessKey, CatalogueKey, ConfigKey, LogKey, SecretKey, SitesKey } from './keys.ts';
import { subscribers } from './subscriptions.ts';

/** What the machine gives, the way of events, and the HTTP server. */
export const system = new ContainerModule(({ bind }) => {
  bind(Clock).toConstantValue(new SystemClock());
  bind(Ids).toConstantValue(new UuidIds());
  bind(KeyMaterial).toConstantValue(new NodeKeyMaterial());
  bind(Sealer)
    .toDynamicValue((c) => new AesGcmSealer(c.get(SecretKey)))
    .inSingletonScope();

  bind(StoredSignal).toConstantValue(new StoredSignal());
  bind(EventBus)
    .toDynamicValue((c) => {
      const log = c.get(LogKey);
      const dueDomains = c.get(DueDomains);
      const tendDomains = () => {
        dueDomains.run().catch((error: unknown) => {
          log.warn({ err: error }, 'due domains not found, will be looked for again');
        });
      };
      const ports = { auditLog: c.get(AuditLog), sites: c.get(SitesKey), tendDomains };
      return new EventBus(subscribers(ports));
    })
    .inSingletonScope();
  bind(OutboxRelay)
    .toDynamicValue(
      (c) => new OutboxRelay(c.get(Outbox), c.get(EventBus), c.get(Clock), c.get(LogKey)),
    )
    .inSingletonScope();

  bind(Metrics)
    .toDynamicValue((c) => new Metrics(c.get(Outbox)))
    .inSingletonScope();
  bind(HttpServer)
    .toDynamicValue((c) => {
      const config = c.get(ConfigKey);
      const database = c.get(Database);
      const usage = c.get(UsageRecorder);
      const ports = {
        access: c.get(AccessKey),
        catalogue: c.get(CatalogueKey),
        idempotencyKeys: c.get(IdempotencyKeys),
        clock: c.get(Clock),
        metrics: c.get(Metrics),
        log: c.get(LogKey),
        onAnswered: (request: AnsweredRequest) => {
          usage.record(request);
        },
        dependencies: [
          { name: 'database', check: () => database.ping() },
          { name: 'migrations', check: () => upToDate(database) },
          ...(config.redisUrl === undefined
            ? []
            : [{ name: 'redis', check: () => c.get(RedisQuotaCounters).ping() }]),
        ],
      };
      const settings = {
        ...config,
        secretKey: c.get(SecretKey),
        servesApi: config.roles.includes('api'),
      };
      return new HttpServer(apiApp(ports, settings));
    })
    .inSingletonScope();
});

const upToDate = async (database: Database): Promise<void> => {
  const states = await database.run(() => migrationStates(database));
  const pending = states.filter((one) => !one.executedAt);
  if (pending.length > 0) {
    throw new Error(`not applied: ${pending.map((one) => one.name).join(', ')}`);
  }
};
