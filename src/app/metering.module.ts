import { Accounts, CounterSnapshots, HighUses, QuotaCounters, UsageLog } from '../access/ports.ts';
import { warnOfHighUse } from '../access/use-cases/accounts.ts';
import { MemoryQuotaCounters } from '../adapters/memory/memory-quota-counters.ts';
import { CounterKeeper } from '../adapters/metering/counter-keeper.ts';
import { HighUseReporter, UsageRecorder } from '../adapters/metering/usage-recorder.ts';
import { FailoverCounters } from '../adapters/redis/failover-counters.ts';
import { Clock } from '../kernel/clock.ts';
import { ConfigKey, LogKey, MetricsKey, RedisCountersKey } from './keys.ts';
import { wiring } from './wiring.ts';

/** Where requests are counted: in Redis for a fleet, else in this process with a copy in the database. */
export const metering = wiring((once, bind) => {
  bind(MemoryQuotaCounters).toConstantValue(new MemoryQuotaCounters());
  once(QuotaCounters, (c) => {
    const own = c.get(MemoryQuotaCounters);
    if (c.get(ConfigKey).redisUrl === undefined) return own;
    const log = c.get(LogKey);
    const metrics = c.get(MetricsKey, { optional: true });
    const shared = c.get(RedisCountersKey);
    return new FailoverCounters(shared, own, {
      onLocal: (local) => {
        metrics?.setCountsLocally(local);
        if (local) log.error('Redis is away: counting requests in this process for at most 60 s');
        else log.info('Redis is back: counting requests there');
      },
    });
  });
  once(
    CounterKeeper,
    (c) => new CounterKeeper(c.get(MemoryQuotaCounters), c.get(CounterSnapshots), c.get(Clock)),
  );
  once(HighUseReporter, (c) => {
    const ports = { accounts: c.get(Accounts), clock: c.get(Clock) };
    return new HighUseReporter(warnOfHighUse(ports));
  });
  bind(HighUses).toService(HighUseReporter);
  once(UsageRecorder, (c) => new UsageRecorder(c.get(UsageLog)));
});
