import { KeyMaterial } from '../access/ports.ts';
import { Passwords } from '../access/people-ports.ts';
import { StoredSignal, Bell } from '../kernel/bell.ts';
import { EventLoopWatch, RunningWork } from '../adapters/system/event-loop-watch.ts';
import { AesGcmSealer } from '../adapters/system/aes-gcm-sealer.ts';
import { AsyncDeadline } from '../adapters/system/async-context.ts';
import { NodeKeyMaterial, SystemClock, UuidIds } from '../adapters/system/clock-and-chance.ts';
import { ScryptPasswords } from '../adapters/system/scrypt-passwords.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { Ids } from '../kernel/ids.ts';
import { Sealer } from '../kernel/sealer.ts';
import { BellsKey, LogKey, PreviousSecretKeys, ProcessKey, SecretKey } from './keys.ts';
import { wiring } from './wiring.ts';

/** What the machine gives. */
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
    ...{ events: new Bell(), webhooks: new Bell(), domains: new Bell(), mails: new Bell() },
    ...{ certificates: new Bell(), renewals: new Bell() },
    mailRequests: new Bell(),
  });
  bind(StoredSignal).toConstantValue(new StoredSignal());
});
