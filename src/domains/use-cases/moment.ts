import type { Moment } from '../domain/attachment/check-schedule.ts';
import type { DomainPorts } from '../ports.ts';

export const moment = ({ clock, chance }: Pick<DomainPorts, 'clock' | 'chance'>): Moment => ({
  now: clock.now(),
  jitter: 2 * chance() - 1,
});
