import { StoredSignal } from '../../kernel/signals.ts';
import { RedisQuotaCounters } from '../../adapters/redis/redis-quota-counters.ts';
import { RedisSignals } from '../../adapters/redis/redis-signals.ts';
import { Deadline } from '../../kernel/ports.ts';
import { LogKey, ProcessKey, RedisCountersKey, RedisSignalsKey } from '../keys.ts';
import { tracerOf } from '../tracing.ts';
import { wiring } from './wiring.ts';

export const redis = (url: string) =>
  wiring((once) => {
    once(RedisCountersKey, (c) => {
      const log = c.get(LogKey);
      const onProblem = (error: Error) => {
        log.debug({ err: error }, 'Redis connection failed');
      };
      const [deadline, tracer] = [c.get(Deadline), tracerOf(c)];
      return new RedisQuotaCounters(url, onProblem, { deadline, tracer });
    }).onDeactivation((counters) => {
      counters.close();
    });
    once(RedisSignalsKey, (c) => {
      const [log, signal] = [c.get(LogKey), c.get(StoredSignal)];
      return new RedisSignals(url, {
        self: c.get(ProcessKey),
        onHeard: (accountIds) => {
          signal.raise(accountIds);
        },
        onProblem: (error) => {
          log.debug({ err: error }, 'signals between processes are late');
        },
      });
    }).onDeactivation((signals) => signals.close());
  });
