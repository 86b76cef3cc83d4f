import { subjectOf } from '../domain/domain-watch.ts';
import type { NotificationsPorts } from '../ports.ts';

type Ports = Pick<NotificationsPorts, 'watches' | 'domains' | 'clock'>;

const page = 100;
/** So that no run of the job reads all domains of a large service. */
const mostPages = 20;
const restMs = 24 * 60 * 60_000;

/**
 * Finds live domains that were never looked at: version 1.0.0, which kept no watches, may still make domains live while
 * it is replaced. Each run goes on where the last one ended, and after the last domain it rests for a day.
 */
export const unwatchedDomains = ({ watches, domains, clock }: Ports) => {
  let place = { after: '', from: new Date(0) };
  const nextPage = async (): Promise<readonly string[]> => {
    const ids = await domains.live(place.after, page);
    const after = ids.length === page ? ids.at(-1) : undefined;
    const rested = new Date(clock.now().getTime() + restMs);
    place = after === undefined ? { after: '', from: rested } : { after, from: place.from };
    const known = new Set(await watches.known(ids.map(subjectOf)));
    return ids.filter((id) => !known.has(subjectOf(id)));
  };
  const lookAll = async (
    isStopping: () => boolean,
    look: (id: string) => Promise<void>,
  ): Promise<void> => {
    for (let pages = 0; pages < mostPages && place.from <= clock.now(); pages += 1) {
      for (const id of await nextPage()) {
        if (isStopping()) return;
        await look(id);
      }
    }
  };
  return { look: lookAll, dueAt: (): Date => place.from };
};
