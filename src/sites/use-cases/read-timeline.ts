import type { CustomDomain } from '../domain/custom-domain.ts';
import type { DomainPorts, PlacedEntry } from '../domain-ports.ts';

export interface TimelinePage {
  /** Newest first. */
  readonly entries: readonly PlacedEntry[];
  /** Where older ones go on; undefined: there are none. */
  readonly older: bigint | undefined;
}

/** Each check has all its answers with it. */
const pageSize = 20;

/** What happened to an attachment, a page at a time. @param before the place where the page before ended */
export const readTimeline =
  ({ timeline }: Pick<DomainPorts, 'timeline'>) =>
  async ({ id }: Pick<CustomDomain, 'id'>, before?: bigint): Promise<TimelinePage> => {
    const found = await timeline.list(id, pageSize + 1, before);
    const entries = found.slice(0, pageSize);
    return { entries, older: found.length > pageSize ? entries.at(-1)?.place : undefined };
  };

/** All of it. */
export const readWholeTimeline = (ports: Pick<DomainPorts, 'timeline'>) => {
  const read = readTimeline(ports);
  return async (domain: Pick<CustomDomain, 'id'>): Promise<readonly PlacedEntry[]> => {
    const all: PlacedEntry[] = [];
    for (let before: bigint | undefined; ;) {
      const { entries, older } = await read(domain, before);
      all.push(...entries);
      if (older === undefined) return all;
      before = older;
    }
  };
};
