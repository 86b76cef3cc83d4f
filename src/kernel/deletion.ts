/** What an owner deletes is out of service at once, can be restored for some days, and then ends. */
export interface Deletable {
  /** Undefined while it is in service. */
  readonly deletedAt: Date | undefined;
}

const hour = 60 * 60_000;
const restorableMs = 7 * 24 * hour;

export const restorableUntil = (deletedAt: Date): Date =>
  new Date(deletedAt.getTime() + restorableMs);

export const isRestorable = ({ deletedAt }: Deletable, now: Date): boolean =>
  deletedAt !== undefined && now < restorableUntil(deletedAt);

/** Processes whose clocks differ must not restore and end the same thing, so it ends an hour late. */
const graceMs = hour;

export const endsAt = (deletedAt: Date): Date =>
  new Date(restorableUntil(deletedAt).getTime() + graceMs);

/** What was deleted before then ends now. */
export const endedBefore = (now: Date): Date => new Date(now.getTime() - restorableMs - graceMs);

export const hasEnded = ({ deletedAt }: Deletable, now: Date): boolean =>
  deletedAt !== undefined && endsAt(deletedAt) <= now;
