import { Timeline, type TimelineEntry } from '../../sites/domain-ports.ts';

interface Kept {
  readonly domainId: string;
  readonly entry: TimelineEntry;
}

export class MemoryTimeline extends Timeline {
  #kept: readonly Kept[] = [];

  override record(domainId: string, entry: TimelineEntry): Promise<void> {
    const { kind, occurredAt } = entry;
    // As JSON keeps it: times become text.
    const details = JSON.parse(JSON.stringify(entry.details)) as TimelineEntry['details'];
    const kept = { domainId, entry: { kind, occurredAt: new Date(occurredAt), details } };
    this.#kept = [kept, ...this.#kept];
    return Promise.resolve();
  }

  override list(domainId: string, limit: number): Promise<readonly TimelineEntry[]> {
    const entries = this.#kept.filter((one) => one.domainId === domainId);
    return Promise.resolve(structuredClone(entries.slice(0, limit).map(({ entry }) => entry)));
  }

  override sweep(before: Date): Promise<number> {
    const kept = this.#kept.filter(({ entry }) => entry.occurredAt >= before);
    const swept = this.#kept.length - kept.length;
    this.#kept = kept;
    return Promise.resolve(swept);
  }
}
