import { domainIn, isForgotten, lookAtDomain, subjectOf } from '../domain/domain-watch.ts';
import type { DueWatch, NotificationsPorts } from '../ports.ts';
import { memoryOf, watching } from './watching.ts';

type Ports = Pick<NotificationsPorts, 'watches' | 'domains' | 'clock'>;

const batch = 100;

/** Looks at one domain: something has happened to it. */
export const watchDomain = (ports: Ports) => {
  const { watches, domains, clock } = ports;
  const watch = watching(ports);
  return (id: string): Promise<void> =>
    watch(subjectOf(id), async (kept) => {
      const domain = await domains.find(id);
      const memory = memoryOf(kept, 'domain');
      const now = clock.now();
      const isOver = !domain || (memory && isForgotten(memory, now));
      if (!isOver) return lookAtDomain(memory, domain, now);
      if (kept) await watches.forget(subjectOf(id), kept.version);
      return undefined;
    });
};

const forget = async ({ watches }: Ports, subject: string): Promise<void> => {
  const kept = await watches.get(subject);
  if (kept) await watches.forget(subject, kept.version);
};

/** Looks at all domains that are due. What else is due is over, and forgotten. One that fails holds up no other. */
export const watchDueDomains = (ports: Ports) => {
  const watch = watchDomain(ports);
  /** @throws what the first one threw that failed */
  const watchDue = async (isStopping: () => boolean): Promise<void> => {
    const failures: unknown[] = [];
    const tried = (work: Promise<void>) =>
      work.catch((error: unknown) => void failures.push(error));
    for (let after: DueWatch | undefined, isMore = true; isMore && !isStopping();) {
      const due = await ports.watches.due(ports.clock.now(), batch, after);
      for (const { subject } of due) {
        if (isStopping()) break;
        const id = domainIn(subject);
        await tried(id === undefined ? forget(ports, subject) : watch(id));
      }
      after = due.at(-1);
      isMore = due.length === batch;
    }
    if (failures.length > 0) throw failures[0];
  };
  /** When there is something to look at. */
  const dueAt = (): Promise<Date | undefined> => ports.watches.nextDueAt();
  return { watchDue, dueAt };
};
