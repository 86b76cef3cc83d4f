import { NameServer } from '../adapters/nameserver/name-server.ts';
import { DnsChallenges } from '../domains/certificate-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Deadline } from '../kernel/deadline.ts';
import { ConfigKey, LogKey, NameServerKey } from './keys.ts';
import { wiring } from './wiring.ts';

/** @param zone the delegated one */
export const nameServer = (zone: string) =>
  wiring((once) => {
    once(NameServerKey, (c) => {
      const [challenges, clock, log] = [c.get(DnsChallenges), c.get(Clock), c.get(LogKey)];
      const deadline = c.get(Deadline);
      return new NameServer({
        ...{ zone, processes: c.get(ConfigKey).processes },
        find: (labels) => deadline.during(() => challenges.valuesFor(labels, clock.now())),
        onError: (error) => {
          log.error({ err: error }, 'error of a socket of the name server');
        },
      });
    });
  });
