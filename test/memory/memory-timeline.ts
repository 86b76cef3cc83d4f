import {
  mostOfKind,
  trimsAfter,
  type TimelineEntry,
} from '../../src/domains/domain/attachment/timeline.ts';
import { Timeline, type PlacedEntry } from '../../src/domains/ports.ts';

interface Kept {
  readonly domainId: string;
  readonly entry: PlacedEntry;
}

export class MemoryTimeline extends Timeline {
  #kept: readonly Kept[] = [];
  #last = 0n;

  /**
   * For the other adapters of this folder: reads the entries as JSON keeps them, with times as text.
   * @returns a function that stores them and cannot fail
   */
  prepare(domainId: string, entries: readonly TimelineEntry[]): () => void {
    const copies = entries.map(({ kind, occurredAt, details }) => ({
      kind,
      occurredAt: new Date(occurredAt),
      details: JSON.parse(JSON.stringify(details)) as TimelineEntry['details'],
    }));
    return () => {
      for (const copy of copies) this.#keep(domainId, copy);
    };
  }

  override list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]> {
    const entries = this.#kept
      .filter((one) => one.domainId === domainId)
      .map(({ entry }) => entry)
      .filter(({ place }) => before === undefined || place < before);
    return Promise.resolve(structuredClone(entries.slice(0, limit)));
  }

  sweep(before: Date): Promise<number> {
    const kept = this.#kept.filter(
      ({ entry }) => entry.occurredAt >= before || !(entry.kind in mostOfKind),
    );
    const swept = this.#kept.length - kept.length;
    this.#kept = kept;
    return Promise.resolve(swept);
  }

  #keep(domainId: string, entry: TimelineEntry): void {
    const place = (this.#last += 1n);
    this.#kept = [{ domainId, entry: { place, ...entry } }, ...this.#kept];
    for (const { kind, most } of trimsAfter(entry.kind)) this.#trim(domainId, kind, most);
  }

  #trim(domainId: string, kind: TimelineEntry['kind'], most: number): void {
    const alike = this.#kept.filter((one) => one.domainId === domainId && one.entry.kind === kind);
    const gone = new Set(alike.slice(most));
    this.#kept = this.#kept.filter((one) => !gone.has(one));
  }
}
