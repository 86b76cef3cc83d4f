import { once } from 'node:events';
import { Redis } from 'ioredis';
import { windowIndex, type Counts } from '../../access/domain/rate-quota.ts';
import { QuotaCounters, type Take, type Taken } from '../../access/quota-ports.ts';
import { Unavailable } from '../../kernel/unavailable.ts';

const usualPatienceMs = 500;
/** Longer than the day window, so that a count outlives its window and no jump of a clock opens it again. */
const lifeSeconds = 3 * 86_400;

/**
 * The rule of `countIn` (access/domain/rate-quota.ts) inside Redis, where look and change are one step.
 * A window is the fields i, c (index and count) and pi, pc (those before), prefixed by m or d.
 */
const countIn = `
local function countIn(key, w, index)
  local kept = redis.call('HMGET', key, w..'i', w..'c', w..'pi', w..'pc')
  local i, c, pi, pc = tonumber(kept[1]), tonumber(kept[2]), tonumber(kept[3]), tonumber(kept[4])
  if i == nil then return { i = index, c = 0 } end
  if i == index then return { i = i, c = c, pi = pi, pc = pc } end
  local before = 0
  if pi == index then before = pc end
  if index < i and c > before then before = c end
  return { i = index, c = before, pi = i, pc = c }
end
local function keep(key, w, window)
  redis.call('HSET', key, w..'i', window.i, w..'c', window.c)
  if window.pi then redis.call('HSET', key, w..'pi', window.pi, w..'pc', window.pc) end
  redis.call('EXPIRE', key, ${String(lifeSeconds)})
end
`;

/** Keys: subject, striker or ''. Arguments: minute, day, per minute, per day. */
const takeScript = `${countIn}
local minute = countIn(KEYS[1], 'm', tonumber(ARGV[1]))
local day = countIn(KEYS[1], 'd', tonumber(ARGV[2]))
if minute.c < tonumber(ARGV[3]) and day.c < tonumber(ARGV[4]) then
  minute.c, day.c = minute.c + 1, day.c + 1
  keep(KEYS[1], 'm', minute)
  keep(KEYS[1], 'd', day)
  return { 1, minute.c, day.c, 0 }
end
keep(KEYS[1], 'm', minute)
keep(KEYS[1], 'd', day)
if #KEYS < 2 then return { 0, minute.c, day.c, 0 } end
local strikes = countIn(KEYS[2], 'm', tonumber(ARGV[1]))
strikes.c = strikes.c + 1
keep(KEYS[2], 'm', strikes)
return { 0, minute.c, day.c, strikes.c }
`;

const peekScript = `${countIn}
return { countIn(KEYS[1], 'm', tonumber(ARGV[1])).c, countIn(KEYS[1], 'd', tonumber(ARGV[2])).c }
`;

interface Scripts {
  takeQuota(...parts: readonly (string | number)[]): Promise<[number, number, number, number]>;
  peekQuota(...parts: readonly (string | number)[]): Promise<[number, number]>;
}

/** Counts for a whole fleet, exactly: one round trip and one atomic script for each request. */
export class RedisQuotaCounters extends QuotaCounters {
  readonly #redis: Redis & Scripts;

  /**
   * @param onProblem hears of lost connections; commands fail by themselves
   * @param patienceMs for which a command is waited for
   */
  constructor(url: string, onProblem: (error: Error) => void, patienceMs = usualPatienceMs) {
    super();
    const redis = new Redis(url, {
      commandTimeout: patienceMs,
      connectTimeout: 1000,
      disconnectTimeout: usualPatienceMs,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      retryStrategy: (tries) => Math.min(tries * 50, 500),
    });
    redis.on('error', onProblem);
    redis.defineCommand('takeQuota', { lua: takeScript });
    redis.defineCommand('peekQuota', { numberOfKeys: 1, lua: peekScript });
    this.#redis = redis as Redis & Scripts;
  }

  override async take({ subject, limits, striker, now }: Take): Promise<Taken> {
    const keys = [place(subject), ...(striker === undefined ? [] : [place(`key:${striker}`)])];
    const [allowed, minute, day, strikes] = await reach(
      this.#redis.takeQuota(
        keys.length,
        ...keys,
        windowIndex('minute', now),
        windowIndex('day', now),
        limits.perMinute,
        limits.perDay,
      ),
    );
    return { allowed: allowed === 1, counts: { minute, day }, strikes };
  }

  override async peek(subject: string, now: Date): Promise<Counts> {
    const indexes = [windowIndex('minute', now), windowIndex('day', now)];
    const [minute, day] = await reach(this.#redis.peekQuota(place(subject), ...indexes));
    return { minute, day };
  }

  /** Waits for the first connection, at most a second; without it the first requests would count alone. */
  async ready(): Promise<void> {
    if (this.#redis.status === 'ready') return;
    const signal = AbortSignal.timeout(1000);
    await once(this.#redis, 'ready', { signal }).catch(() => undefined);
  }

  /** @throws Unavailable */
  async ping(): Promise<void> {
    await reach(this.#redis.ping());
  }

  close(): void {
    this.#redis.disconnect();
  }
}

const place = (subject: string): string => `animal-store:quota:${subject}`;

const reach = async <T>(command: Promise<T>): Promise<T> => {
  try {
    return await command;
  } catch (error) {
    throw new Unavailable('Redis', error);
  }
};
