/** A key that keeps calling after refusals is banned for a while. */
export interface Ban {
  readonly since: Date;
  readonly until: Date;
  readonly minutes: number;
}

/** Refusals of one key in one UTC minute that bring a ban. */
export const strikesForBan = 10;

/** Each tenth refusal: a key whose ban was lifted within the same minute has ten more. */
export const bringsBan = (strikes: number): boolean => strikes > 0 && strikes % strikesForBan === 0;

const firstBanMinutes = 5;
const longestBanMinutes = 60;
const memoryMs = 24 * 60 * 60 * 1000;

export const isBanned = (ban: Ban | undefined, now: Date): ban is Ban =>
  ban !== undefined && now < ban.until;

/** 5 minutes; each further ban within 24 hours of the last one is twice as long, at most 60. */
export const nextBan = (last: Ban | undefined, now: Date): Ban => {
  const again = last !== undefined && now.getTime() - last.since.getTime() < memoryMs;
  const minutes = again ? Math.min(last.minutes * 2, longestBanMinutes) : firstBanMinutes;
  return { since: now, until: new Date(now.getTime() + minutes * 60_000), minutes };
};
