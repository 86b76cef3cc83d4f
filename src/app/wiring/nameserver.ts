import { NameServer } from '../../adapters/nameserver/name-server.ts';
import { DnsChallenges } from '../../domains/certificate-ports.ts';
import { Clock, Deadline } from '../../kernel/ports.ts';
import { ConfigKey, LogKey, NameServerKey } from '../keys.ts';
import { wiring } from './wiring.ts';

export const nameServer = wiring((once) => {
  once(NameServerKey, (c) => {
    const [challenges, clock, log] = [c.get(DnsChallenges), c.get(Clock), c.get(LogKey)];
    const [deadline, config] = [c.get(Deadline), c.get(ConfigKey)];
    return new NameServer({
      zone: config.acmeDnsZone ?? '',
      processes: config.processes,
      find: (labels) => deadline.during(() => challenges.valuesFor(labels, clock.now())),
      onError: (error) => {
        log.error({ err: error }, 'error of a socket of the name server');
      },
    });
  });
});
