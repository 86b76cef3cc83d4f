import { KeyMaterial } from '../access/key-ports.ts';
import { Passwords } from '../access/people-ports.ts';
import { EventBus } from '../adapters/events/event-bus.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { EventLoopWatch } from '../adapters/system/event-loop-watch.ts';
import { AesGcmSealer } from '../adapters/system/aes-gcm-sealer.ts';
import { AsyncDeadline } from '../adapters/system/async-deadline.ts';
import { NodeKeyMaterial } from '../adapters/system/node-key-material.ts';
import { RunningWork } from '../adapters/system/running-work.ts';
import { ScryptPasswords } from '../adapters/system/scrypt-passwords.ts';
import { SystemClock } from '../adapters/system/system-clock.ts';
import { UuidIds } from '../adapters/system/uuid-ids.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import { Outbox } from '../kernel/outbox.ts';
import { Sealer } from '../kernel/sealer.ts';
import {
  LogKey,
  PreviousSecretKeys,
  ProcessKey,
  SecretKey,
  DomainsKey,
  SecureSitesKey,
  SitesKey,
} from './keys.ts';
import { subscribers } from './subscriptions.ts';
import { watchedSubscribers } from './watched-work.ts';
import { wiring } from './wiring.ts';

/** What the machine gives, and the way of events. */
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

  bind(StoredSignal).toConstantValue(new StoredSignal());
  once(EventBus, (c) => {
    const log = c.get(LogKey);
    const dueDomains = c.get(DueDomains);
    const tendDomains = () => {
      dueDomains.run().catch((error: unknown) => {
        log.warn({ err: error }, 'search for due domains failed, will be retried');
      });
    };
    const certificates = c.get(SecureSitesKey);
    const secureSites = () => {
      certificates.wake();
    };
    const all = subscribers({
      sites: c.get(SitesKey),
      domains: c.get(DomainsKey),
      secureSites,
      tendDomains,
    });
    return new EventBus(watchedSubscribers(c.get(RunningWork), all));
  });
  once(
    OutboxRelay,
    (c) => new OutboxRelay(c.get(Outbox), c.get(EventBus), c.get(Clock), c.get(LogKey)),
  );
});
