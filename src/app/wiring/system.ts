import type { ResolutionContext } from 'inversify';
import { KeyMaterial } from '../../access/ports.ts';
import { Passwords } from '../../access/people-ports.ts';
import { announcing, StoredSignal, Bell, type StoredListener } from '../../kernel/signals.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyJobLeases, KyselyRetention } from '../../adapters/kysely/kysely-retention.ts';
import { KyselyOutbox, KyselyParkedDeliveries } from '../../adapters/kysely/kysely-outbox.ts';
import { AesGcmSealer, ScryptPasswords } from '../../adapters/system/secrets.ts';
import {
  AsyncDeadline,
  NodeKeyMaterial,
  SystemClock,
  UuidIds,
} from '../../adapters/system/system-ports.ts';
import { EventLoopWatch, RunningWork } from '../../adapters/system/event-loop-watch.ts';
import { Acting, Clock, Deadline, Ids, Retention, Sealer } from '../../kernel/ports.ts';
import { JobLeases, Outbox, ParkedDeliveries } from '../../kernel/queue.ts';
import {
  BellsKey,
  ConfigKey,
  LogKey,
  PreviousSecretKeys,
  ProcessKey,
  RedisSignalsKey,
  SecretKey,
} from '../keys.ts';
import { retention } from '../retention.ts';
import { subscribersOf } from '../subscriptions.ts';
import { notingEvents, tracerOf } from '../tracing.ts';
import { wiring } from './wiring.ts';

export const tellingOf = (c: ResolutionContext): StoredListener => {
  const { redisUrl } = c.get(ConfigKey);
  return announcing(c.get(StoredSignal), {
    deadline: c.get(Deadline),
    tracer: tracerOf(c),
    fleet: redisUrl === undefined ? undefined : c.get(RedisSignalsKey),
  });
};

export const system = wiring((once, bind) => {
  bind(Clock).toConstantValue(new SystemClock());
  bind(Deadline).toConstantValue(new AsyncDeadline());
  bind(Ids).toConstantValue(new UuidIds());
  once(ProcessKey, (c) => c.get(Ids).next('proc'));
  bind(KeyMaterial).toConstantValue(new NodeKeyMaterial());
  bind(Passwords).toConstantValue(new ScryptPasswords());
  once(Sealer, (c) => new AesGcmSealer(c.get(SecretKey), c.get(PreviousSecretKeys)));

  bind(RunningWork).toConstantValue(new RunningWork());
  once(EventLoopWatch, (c) => new EventLoopWatch(c.get(RunningWork), c.get(LogKey)));

  bind(BellsKey).toConstantValue({
    events: new Bell(),
    webhooks: new Bell(),
    domains: new Bell(),
    mails: new Bell(),
    certificates: new Bell(),
    renewals: new Bell(),
    mailRequests: new Bell(),
  });
  bind(StoredSignal).toConstantValue(new StoredSignal());

  once(Database, (c) => {
    const log = c.get(LogKey);
    const onOutage = {
      onAway: (err: unknown) => {
        log.warn({ err }, 'database away: requests that need it get 503 until it is back');
      },
      onBack: (awayMs: number) => {
        log.info({ seconds: Math.round(awayMs / 1000) }, 'database back');
      },
    };
    const [deadline, tracer] = [c.get(Deadline), tracerOf(c)];
    return new Database(c.get(ConfigKey).databaseUrl, { onOutage, deadline, tracer });
  }).onDeactivation((database) => database.close());
  once(KyselyOutbox, (c) => {
    const [tracer, onStored] = [tracerOf(c), tellingOf(c)];
    const [plainIds, acting] = [c.get(Ids), c.get(Acting)];
    const ids = tracer ? notingEvents(tracer, plainIds) : plainIds;
    return new KyselyOutbox(c.get(Database), { ids, acting, subscribersOf, onStored });
  });
  bind(Outbox).toService(KyselyOutbox);
  once(ParkedDeliveries, (c) => new KyselyParkedDeliveries(c.get(Database)));
  once(Retention, (c) => new KyselyRetention(c.get(Database), retention));
  once(JobLeases, (c) => new KyselyJobLeases(c.get(Database)));
});
