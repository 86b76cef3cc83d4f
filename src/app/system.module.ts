import { ContainerModule } from 'inversify';
import { AuditLog, KeyMaterial, Passwords } from '../access/ports.ts';
import { EventBus } from '../adapters/events/event-bus.ts';
import { OutboxRelay } from '../adapters/events/outbox-relay.ts';
import { StoredSignal } from '../adapters/events/stored-signal.ts';
import { DueDomains } from '../adapters/schedule/due-domains.ts';
import { AesGcmSealer } from '../adapters/system/aes-gcm-sealer.ts';
import { NodeKeyMaterial } from '../adapters/system/node-key-material.ts';
import { ScryptPasswords } from '../adapters/system/scrypt-passwords.ts';
import { SystemClock } from '../adapters/system/system-clock.ts';
import { UuidIds } from '../adapters/system/uuid-ids.ts';
import { Clock } from '../kernel/clock.ts';
import { Ids } from '../kernel/ids.ts';
import { Outbox } from '../kernel/outbox.ts';
import { Sealer } from '../kernel/sealer.ts';
import { LogKey, SecretKey, SitesKey } from './keys.ts';
import { subscribers } from './subscriptions.ts';

/** What the machine gives, and the way of events. */
export const system = new ContainerModule(({ bind }) => {
  bind(Clock).toConstantValue(new SystemClock());
  bind(Ids).toConstantValue(new UuidIds());
  bind(KeyMaterial).toConstantValue(new NodeKeyMaterial());
  bind(Passwords).toConstantValue(new ScryptPasswords());
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
});
