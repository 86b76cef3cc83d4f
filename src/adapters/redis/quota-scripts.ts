/** Longer than the day window, so that a count outlives its window and no jump of a clock opens it again. */
const lifeSeconds = 3 * 86_400;

/**
 * The rule of `countIn` (access/domain/quota.ts) inside Redis, where read and change are one step. A window is the
 * fields i, c (index and count) and pi, pc (those before), prefixed by m or d.
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
 * Keys: subject, striker or none. Arguments: minute, day, per minute, per day, deadline in milliseconds of the clock of
 * Redis, known count of the minute and of the day, and for a probe one more. Answers: 1, 0 or -1 (allowed, refused,
 * late), minute, day, strikes, the clock of Redis. A late take changes nothing, because its caller has given up. A probe
 * is late, and writes: a replica, or a primary without enough replicas, must fail it.
 */
export const takeScript = `${countIn}
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

export const peekScript = `${countIn}
return { countIn(KEYS[1], 'm', tonumber(ARGV[1])).c, countIn(KEYS[1], 'd', tonumber(ARGV[2])).c }
`;

type Verdict = 1 | 0 | -1;
export type TakeAnswer = [verdict: Verdict, ...counts: [number, number, number], clock: number];

export interface Scripts {
  takeQuota(...parts: readonly (string | number)[]): Promise<TakeAnswer>;
  peekQuota(...parts: readonly (string | number)[]): Promise<[number, number]>;
}
