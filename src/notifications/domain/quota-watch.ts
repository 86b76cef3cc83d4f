import type { Look } from './look.ts';

export const quotaLevels = ['warning', 'reached'] as const;
/** 80 or 100 % of the day. */
type QuotaLevel = (typeof quotaLevels)[number];

/** An account has used most of its requests of a UTC day. */
export interface QuotaUse {
  readonly accountId: string;
  readonly level: QuotaLevel;
  readonly used: number;
  readonly limit: number;
  /** The end of the day. */
  readonly resetsAt: Date;
}

export interface QuotaMemory {
  readonly kind: 'quota';
  /** The end of the day that it is about. */
  readonly resetsAt: Date;
  readonly told: QuotaLevel;
}

/** Tells each level once a day; of the lower one nothing after the higher. @returns undefined if there is nothing to tell */
export const lookAtQuota = (
  memory: QuotaMemory | undefined,
  { accountId, level, used, limit, resetsAt }: QuotaUse,
  now: Date,
): Look<QuotaMemory> | undefined => {
  if (memory && isTold(memory, level, resetsAt)) return undefined;
  const type = level === 'reached' ? 'quota_used_up' : 'quota_nearly_used';
  const use = { used, limit, resetsAt: resetsAt.toISOString() };
  return {
    memory: { kind: 'quota', resetsAt, told: level },
    events: [{ type, accountId, occurredAt: now, ...use }],
    lookAt: undefined,
  };
};

/** A report of a day that is over comes too late. */
const isTold = (memory: QuotaMemory, level: QuotaLevel, resetsAt: Date): boolean => {
  if (memory.resetsAt > resetsAt) return true;
  const isSameDay = memory.resetsAt.getTime() === resetsAt.getTime();
  return isSameDay && (memory.told === 'reached' || memory.told === level);
};
