import { hourMs } from './durations.ts';

/**
 * Deleted things are out of service at once. They can be restored for 7 days, and are then removed
 * permanently.
 */
export interface Deletable {
  readonly deletedAt: Date | undefined;
}

const restorableMs = 7 * 24 * hourMs;

export const restorableUntil = (deletedAt: Date): Date =>
  new Date(deletedAt.getTime() + restorableMs);

export const isRestorable = ({ deletedAt }: Deletable, now: Date): boolean =>
  deletedAt !== undefined && now < restorableUntil(deletedAt);

/** The extra hour prevents processes with different clocks from restoring and removing the same thing. */
const graceMs = hourMs;

export const endsAt = (deletedAt: Date): Date =>
  new Date(restorableUntil(deletedAt).getTime() + graceMs);

export const endedBefore = (now: Date): Date => new Date(now.getTime() - restorableMs - graceMs);

export const hasEnded = ({ deletedAt }: Deletable, now: Date): boolean =>
  deletedAt !== undefined && endsAt(deletedAt) <= now;
