import type { Trouble } from '../../src/notifications/domain/notification.ts';
import type { WatchedDomain } from '../../src/notifications/domain/watched-domain.ts';
import { now } from './accounts.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

export const astray: Trouble = {
  ...{ problem: 'cname_wrong_target', actor: 'customer' },
  fix: 'Change the CNAME record.',
};

/** A live domain in good order: its certificate of 90 days is 10 days old. */
export const watchedDomain = (draft: {
  readonly isAttached?: boolean;
  readonly isAwaited?: boolean;
  readonly dns?: Partial<WatchedDomain['dns']>;
  readonly certificate?: Partial<WatchedDomain['certificate']>;
}): WatchedDomain => ({
  ...{ id: 'dom_1', accountId: 'acct_1', projectId: 'proj_1', host: 'shop.example' },
  isAttached: draft.isAttached ?? true,
  isAwaited: draft.isAwaited ?? false,
  dns: { checkedAt: now, astray: undefined, ...draft.dns },
  certificate: {
    ...{ failed: 0, trouble: undefined },
    validity: {
      notBefore: new Date(now.getTime() - 10 * day),
      notAfter: new Date(now.getTime() + 80 * day),
    },
    ...draft.certificate,
  },
});
