import type { JobEnd } from '../adapters/schedule/cron-jobs.ts';

type Work<End> = (isStopping: () => boolean) => Promise<End>;

/** Work that does not say when it has more to do. */
export const asJob =
  (work: Work<unknown>): Work<JobEnd> =>
  async (isStopping) => {
    await work(isStopping);
    return 'done';
  };
