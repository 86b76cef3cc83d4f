import type { Moment } from '../domain/custom-domain.ts';
import type { DomainPorts } from '../domain-ports.ts';

export const moment = ({ clock, chance }: Pick<DomainPorts, 'clock' | 'chance'>): Moment => ({
  now: clock.now(),
  jitter: 2 * chance() - 1,
});
