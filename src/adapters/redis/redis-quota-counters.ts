import { EventEmitter, once } from 'node:events';
import type { Redis } from 'ioredis';
import pTimeout from 'p-timeout';
import { windowIndex, type Counts } from '../../access/domain/quota.ts';
import { QuotaCounters, type Take, type Taken } from '../../access/ports.ts';
import { noDeadline, type Deadline, OutOfTime, Unavailable } from '../../kernel/ports.ts';
import type { Step, Tracer } from '../../kernel/tracer.ts';
import { heartbeatMs, openConnection } from './redis-connection.ts';

/** The share of `timeoutMs` for Redis. The rest covers the network and early timers. */
const shareForRedis = 0.8;

export interface CounterOptions {
  readonly timeoutMs?: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
  readonly deadline?: Pick<Deadline, 'leftMs'>;
  readonly tracer?: Tracer | undefined;
}

/** `ahead`: a lower bound of how far the clock of Redis is ahead. Both in monotonic milliseconds of this process. */
type Standing = { readonly ahead: number } | { readonly awaySince: number };

/**
 * One atomic script per request. After a missing answer, calls fail at once until a probe succeeds. The probe also
 * measures the difference between the clocks, so that Redis ignores takes whose callers have given up.
 */
export class RedisQuotaCounters extends QuotaCounters {
  readonly #redis: Redis & Scripts;
  readonly #timeoutMs: number;
  readonly #elapsed: () => number;
  readonly #deadline: Pick<Deadline, 'leftMs'>;
  readonly #tracer: Tracer | undefined;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #proofs = new EventEmitter();
  #standing: Standing;
  #proving = false;
  readonly #waiting = new Set<{ readonly since: number }>();

  constructor(url: string, onProblem: (error: Error) => void, options: CounterOptions = {}) {
    super();
    const { redis, timeoutMs } = openConnection(url, {
      onProblem,
      timeoutMs: options.timeoutMs,
      commandsEnd: true,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
    });
    redis.defineCommand('takeQuota', { lua: takeScript });
    redis.defineCommand('peekQuota', { numberOfKeys: 1, lua: peekScript });
    redis.on('ready', () => void this.#prove());
    redis.on('close', () => {
      this.#noteAway();
    });
    this.#redis = redis as Redis & Scripts;
    this.#timeoutMs = timeoutMs;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#standing = { awaySince: this.#elapsed() };
    this.#deadline = options.deadline ?? noDeadline;
    this.#tracer = options.tracer;
    this.#heartbeat = setInterval(() => void this.#prove(), heartbeatMs);
  }

  /** Tries twice: after a clock jump, the second try has the right offset. */
  override async take(take: Take): Promise<Taken> {
    const taken = (await this.#tryTake(take)) ?? (await this.#tryTake(take));
    if (taken) return taken;
    if (this.#deadline.leftMs < this.#timeoutMs) throw new OutOfTime('Redis');
    throw new Unavailable('Redis', new Error('Two requests were late'));
  }

  override async peek(subject: string, now: Date): Promise<Counts> {
    const indexes = [windowIndex('minute', now), windowIndex('day', now)];
    const [minute, day] = await this.#reach('peekQuota', () =>
      this.#redis.peekQuota(keyOf(subject), ...indexes),
    );
    return { minute, day };
  }

  get isAnswering(): boolean {
    return 'ahead' in this.#standing;
  }

  get awaySince(): number | undefined {
    return 'awaySince' in this.#standing ? this.#standing.awaySince : undefined;
  }

  /** Waits for the first proof, because earlier requests would be counted locally. */
  async ready(): Promise<void> {
    if (this.isAnswering) return;
    const signal = AbortSignal.timeout(1000);
    await once(this.#proofs, 'proven', { signal }).catch(() => undefined);
  }

  onConnected(listener: () => void): void {
    this.#redis.on('ready', listener);
  }

  /** @throws Unavailable */
  async ping(): Promise<void> {
    await this.#reach('ping', () => this.#redis.ping());
  }

  close(): void {
    clearInterval(this.#heartbeat);
    this.#redis.disconnect();
  }

  async #tryTake({ subject, limits, striker, now, atLeast }: Take): Promise<Taken | undefined> {
    const keys = [keyOf(subject), ...(striker === undefined ? [] : [keyOf(`key:${striker}`)])];
    const windows = [windowIndex('minute', now), windowIndex('day', now)];
    const [verdict, minute, day, strikes, clock] = await this.#reach('takeQuota', (ahead) => {
      const deadline = Math.floor(ahead + this.#givenUpAt());
      const known = [atLeast?.minute ?? 0, atLeast?.day ?? 0];
      const rule = [limits.perMinute, limits.perDay, deadline, ...known];
      return this.#redis.takeQuota(keys.length, ...keys, ...windows, ...rule);
    });
    if (verdict !== -1) return { allowed: verdict === 1, counts: { minute, day }, strikes };
    this.#learnClock(clock);
    return undefined;
  }

  #reach<T>(name: CommandName, command: (ahead: number) => Promise<T>): Promise<T> {
    const tracer = this.#tracer;
    if (!tracer) return this.#reachInTime(command);
    return tracer.step(stepOf(name), () => this.#reachInTime(command));
  }

  async #reachInTime<T>(command: (ahead: number) => Promise<T>): Promise<T> {
    const standing = this.#standing;
    if ('awaySince' in standing) throw new Unavailable('Redis', new Error('It does not answer'));
    const { leftMs } = this.#deadline;
    if (leftMs === 0) throw new OutOfTime('Redis');
    const answer = this.#answerTo(() => command(standing.ahead));
    return leftMs < this.#timeoutMs ? before(leftMs, answer) : answer;
  }

  /** Uses late answers too, because they show that Redis is alive. */
  async #answerTo<T>(command: () => Promise<T>): Promise<T> {
    try {
      return await this.#ask(command);
    } catch (error) {
      if (!isAnswer(error)) this.#noteAway();
      throw new Unavailable('Redis', error);
    }
  }

  async #ask<T>(command: () => Promise<T>): Promise<T> {
    const question = { since: this.#elapsed() };
    this.#waiting.add(question);
    try {
      return await command();
    } finally {
      this.#waiting.delete(question);
    }
  }

  /** When the oldest pending command times out, the connection and all its commands are dropped. */
  #givenUpAt(): number {
    const [oldest = { since: this.#elapsed() }] = this.#waiting;
    return Math.min(
      oldest.since + this.#timeoutMs * shareForRedis,
      this.#elapsed() + this.#deadline.leftMs * shareForRedis,
    );
  }

  /** Sends a take whose deadline has passed, so the script writes but counts nothing. */
  async #prove(): Promise<void> {
    if (this.#proving || this.#redis.status !== 'ready') return;
    this.#proving = true;
    try {
      const proof = () => this.#redis.takeQuota(1, keyOf('nobody'), ...probe);
      const [, , , , clock]: TakeAnswer = await this.#ask(proof);
      this.#learnClock(clock);
      this.#proofs.emit('proven');
    } catch {
      this.#noteAway();
    } finally {
      this.#proving = false;
    }
  }

  /** Sets a lower bound, because Redis read its clock before the answer arrived. */
  #learnClock(clock: number): void {
    this.#standing = { ahead: clock - this.#elapsed() };
  }

  #noteAway(): void {
    if (this.isAnswering) this.#standing = { awaySince: this.#elapsed() };
  }
}

type CommandName = 'takeQuota' | 'peekQuota' | 'ping';

const stepOf = (name: CommandName): Step => ({
  name: `Redis ${name}`,
  kind: 'client',
  facts: {
    'db.system.name': 'redis',
    'db.operation.name': name === 'ping' ? 'PING' : 'EVALSHA',
    ...(name !== 'ping' && { 'db.stored_procedure.name': name }),
  },
});

const before = <T>(milliseconds: number, answer: Promise<T>): Promise<T> =>
  pTimeout(answer, {
    milliseconds,
    fallback: () => {
      throw new OutOfTime('Redis');
    },
  });

const probe = [0, 0, 0, 0, 0, 0, 0, 1];

const keyOf = (subject: string): string => `animal-store:quota:${subject}`;

const isAnswer = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** Longer than a day, so that a clock jump does not reset a count. */
const lifeSeconds = 3 * 86_400;

/**
 * Does the same as `countIn` of access/domain/quota.ts, atomically. A window has index i and count c, previous pi and
 * pc, prefixed by m or d.
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

/**
 * Keys: subject, optional striker. Arguments: minute, day, both limits, deadline in Redis milliseconds, known counts,
 * and one more for a probe. Returns 1, 0 or -1 (allowed, refused, late), counts, strikes and clock. A probe writes, so
 * that it fails on replicas.
 */
const takeScript = `${countIn}
local time = redis.call('TIME')
local clock = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[8] then redis.call('SET', KEYS[1], 'probe', 'PX', 1) end
if clock > tonumber(ARGV[5]) then return { -1, 0, 0, 0, clock } end
local minute = countIn(KEYS[1], 'm', tonumber(ARGV[1]))
local day = countIn(KEYS[1], 'd', tonumber(ARGV[2]))
minute.c = math.max(minute.c, tonumber(ARGV[6]))
day.c = math.max(day.c, tonumber(ARGV[7]))
if minute.c < tonumber(ARGV[3]) and day.c < tonumber(ARGV[4]) then
  minute.c, day.c = minute.c + 1, day.c + 1
  keep(KEYS[1], 'm', minute)
  keep(KEYS[1], 'd', day)
  return { 1, minute.c, day.c, 0, clock }
end
keep(KEYS[1], 'm', minute)
keep(KEYS[1], 'd', day)
if #KEYS < 2 then return { 0, minute.c, day.c, 0, clock } end
local strikes = countIn(KEYS[2], 'm', tonumber(ARGV[1]))
strikes.c = strikes.c + 1
keep(KEYS[2], 'm', strikes)
return { 0, minute.c, day.c, strikes.c, clock }
`;

const peekScript = `${countIn}
return { countIn(KEYS[1], 'm', tonumber(ARGV[1])).c, countIn(KEYS[1], 'd', tonumber(ARGV[2])).c }
`;

type Verdict = 1 | 0 | -1;
type TakeAnswer = [verdict: Verdict, ...counts: [number, number, number], clock: number];

interface Scripts {
  takeQuota(...parts: readonly (string | number)[]): Promise<TakeAnswer>;
  peekQuota(...parts: readonly (string | number)[]): Promise<[number, number]>;
}
