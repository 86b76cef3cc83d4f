import { Clock } from '../../kernel/clock.ts';

export class SystemClock extends Clock {
  override now(): Date {
    return new Date();
  }
}
