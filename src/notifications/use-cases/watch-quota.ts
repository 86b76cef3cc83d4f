import { lookAtQuota, type QuotaUse } from '../domain/quota-watch.ts';
import type { NotificationsPorts } from '../ports.ts';
import { memoryOf, watching } from './watching.ts';

/** An account has used most of its day. It may be reported again and again, by any process. */
export const watchQuota = (ports: Pick<NotificationsPorts, 'watches' | 'clock'>) => {
  const watch = watching(ports);
  return (use: QuotaUse): Promise<void> =>
    watch(`quota:${use.accountId}`, (kept) =>
      Promise.resolve(lookAtQuota(memoryOf(kept, 'quota'), use, ports.clock.now())),
    );
};
