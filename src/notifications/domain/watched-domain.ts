import type { NotificationsEvent } from './notifications-event.ts';
import type { Trouble } from './notification.ts';

/** A custom domain, as far as its owner is told of it. */
export interface WatchedDomain {
  readonly id: string;
  readonly accountId: string;
  readonly projectId: string;
  readonly host: string;
  /** False once it is removed. */
  readonly isAttached: boolean;
  /** Its visitors do not come here yet, and it has no certificate that it could lose, so nobody depends on one. */
  readonly isAwaited: boolean;
  readonly dns: {
    readonly checkedAt: Date | undefined;
    /** Why visitors of a live domain do not reach the site, as the last check showed. */
    readonly astray: Trouble | undefined;
  };
  readonly certificate: {
    /** Attempts in a row. */
    readonly failed: number;
    /** Why the last one failed. */
    readonly trouble: Trouble | undefined;
    /** Undefined before the first certificate. */
    readonly validity: { readonly notBefore: Date; readonly notAfter: Date } | undefined;
  };
}

/** What a look at one side of a thing decided. An episode goes from the first sign that something is wrong to its end. */
export interface EpisodeLook<Episode> {
  readonly episode: Episode | undefined;
  readonly events: readonly NotificationsEvent[];
  readonly lookAt?: Date | undefined;
}

export const about = ({ id, accountId, projectId, host }: WatchedDomain, now: Date) => ({
  ...{ accountId, occurredAt: now, projectId, domainId: id, host },
});
