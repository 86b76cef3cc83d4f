import { longestWait } from './waits.ts';

const hour = 60 * 60_000;

/** So many failures without a success, and a webhook is switched off. */
export const longestFailingMs = 5 * 24 * hour;

/** What waits is tried within this time. In a longer pause nothing has waited, so the pause does not count. */
export const longestPauseMs = longestWait + hour;

/** Failures without a success. */
export interface Failing {
  /** The first one, later by all long pauses since. */
  readonly failingSince: Date;
  /** The last one. */
  readonly failedAt: Date;
}

type Maybe<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | undefined };

/** @param at of one more failure; attempts at several deliveries may end in another order than they began */
export const failingAfter = (failing: Maybe<Failing>, at: Date): Failing => {
  const { failingSince = at, failedAt = at } = failing;
  const wait = at.getTime() - failedAt.getTime();
  const pause = wait > longestPauseMs ? wait : 0;
  return {
    failingSince: new Date(failingSince.getTime() + pause),
    failedAt: at > failedAt ? at : failedAt,
  };
};

/** For how long it was tried in vain: a receiver that is called once a week has five such days after two calls. */
export const failedForMs = ({ failingSince, failedAt }: Failing): number =>
  failedAt.getTime() - failingSince.getTime();

export const isHopeless = (failing: Failing): boolean => failedForMs(failing) >= longestFailingMs;
