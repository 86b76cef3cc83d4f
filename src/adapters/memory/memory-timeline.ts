import {
  mostOfKind,
  Timeline,
  trimsAfter,
  type PlacedEntry,
  type TimelineEntry,
} from '../../sites/domain-ports.ts';

interface Kept {
  readonly domainId: string;
  readonly entry: PlacedEntry;
}

export class MemoryTimeline extends Timeline {
  #kept: readonly Kept[] = [];
  #last = 0n;

  override record(domainId: string, entry: TimelineEntry): Promise<void> {
    const { kind, occurredAt } = entry;
    // As JSON keeps it: times become text.
    const details = JSON.parse(JSON.stringify(entry.details)) as TimelineEntry['details'];
    const place = (this.#last += 1n);
    const kept = { domainId, entry: { place, kind, occurredAt: new Date(occurredAt), details } };
    this.#kept = [kept, ...this.#kept];
    for (const { kind: trimmed, most } of trimsAfter(kind)) this.#trim(domainId, trimmed, most);
    return Promise.resolve();
  }

  override list(domainId: string, limit: number, before?: bigint): Promise<readonly PlacedEntry[]> {
    const entries = this.#kept
      .filter((one) => one.domainId === domainId)
      .map(({ entry }) => entry)
      .filter(({ place }) => before === undefined || place < before);
    return Promise.resolve(structuredClone(entries.slice(0, limit)));
  }

  override sweep(before: Date): Promise<number> {
    const kept = this.#kept.filter(
      ({ entry }) => entry.occurredAt >= before || !(entry.kind in mostOfKind),
    );
    const swept = this.#kept.length - kept.length;
    this.#kept = kept;
    return Promise.resolve(swept);
  }

  #trim(domainId: string, kind: TimelineEntry['kind'], most: number): void {
    const alike = this.#kept.filter((one) => one.domainId === domainId && one.entry.kind === kind);
    const gone = new Set(alike.slice(most));
    this.#kept = this.#kept.filter((one) => !gone.has(one));
  }
}
