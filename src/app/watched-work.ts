import type { Subscriber } from '../adapters/events/event-bus.ts';
import type { Job } from '../adapters/schedule/cron-jobs.ts';
import { named, type RunningWork } from '../adapters/system/running-work.ts';

/** The same jobs, registered while they run. */
export const watchedJobs = (running: RunningWork, jobs: readonly Job[]): readonly Job[] =>
  jobs.map((job) => {
    const work = named('job', job.name);
    return { ...job, run: () => running.during(work, job.run) };
  });

/** The same subscribers, registered while they handle an event. */
export const watchedSubscribers = (
  running: RunningWork,
  subscribers: Readonly<Record<string, Subscriber>>,
): Readonly<Record<string, Subscriber>> =>
  Object.fromEntries(
    Object.entries(subscribers).map(([name, handle]): [string, Subscriber] => [
      name,
      (stored) =>
        running.during(named('delivery', `${stored.event.type} to ${name}`), () => handle(stored)),
    ]),
  );
