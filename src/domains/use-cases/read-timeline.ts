import type { CustomDomain } from '../domain/attachment/custom-domain.ts';
import type { DomainPorts, PlacedEntry } from '../ports.ts';

export interface TimelinePage {
  /** Newest first. */
  readonly entries: readonly PlacedEntry[];
  /** Cursor of the next page; undefined when there are no older entries. */
  readonly older: bigint | undefined;
}

/** Small, because each check carries all its answers. */
const pageSize = 20;

/** The history of an attachment, one page at a time. @param before the cursor of the previous page */
export const readTimeline =
  ({ timeline }: Pick<DomainPorts, 'timeline'>) =>
  async ({ id }: Pick<CustomDomain, 'id'>, before?: bigint): Promise<TimelinePage> => {
    const found = await timeline.list(id, pageSize + 1, before);
    const entries = found.slice(0, pageSize);
    return { entries, older: found.length > pageSize ? entries.at(-1)?.place : undefined };
  };

export const readWholeTimeline =
  (ports: Pick<DomainPorts, 'timeline'>) =>
  async (domain: Pick<CustomDomain, 'id'>): Promise<readonly PlacedEntry[]> => {
    const all: PlacedEntry[] = [];
    for (let before: bigint | undefined; ;) {
      const { entries, older } = await readTimeline(ports)(domain, before);
      all.push(...entries);
      if (older === undefined) return all;
      before = older;
    }
  };
