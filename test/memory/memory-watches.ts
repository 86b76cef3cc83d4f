import type { Look } from '../../src/notifications/domain/look.ts';
import type { Memory } from '../../src/notifications/domain/memory.ts';
import { Watches, type DueWatch, type KeptWatch } from '../../src/notifications/ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';

export class MemoryWatches extends Watches {
  readonly #outbox: Pick<MemoryOutbox, 'append'>;
  readonly #watches = new Map<string, KeptWatch & Pick<Look<Memory>, 'lookAt'>>();

  constructor(outbox: Pick<MemoryOutbox, 'append'>) {
    super();
    this.#outbox = outbox;
  }

  override get(subject: string): Promise<KeptWatch | undefined> {
    const kept = this.#watches.get(subject);
    return Promise.resolve(kept && structuredClone({ memory: kept.memory, version: kept.version }));
  }

  override save(subject: string, since: number | undefined, look: Look<Memory>): Promise<boolean> {
    if (this.#watches.get(subject)?.version !== since) return Promise.resolve(false);
    const { memory, lookAt, events } = structuredClone(look);
    this.#watches.set(subject, { memory, lookAt, version: (since ?? 0) + 1 });
    this.#outbox.append(events);
    return Promise.resolve(true);
  }

  override forget(subject: string, since: number): Promise<void> {
    if (this.#watches.get(subject)?.version === since) this.#watches.delete(subject);
    return Promise.resolve();
  }

  override due(now: Date, limit: number, after?: DueWatch): Promise<readonly DueWatch[]> {
    const due = [...this.#watches]
      .flatMap(([subject, { lookAt }]) => (lookAt && lookAt <= now ? [{ subject, lookAt }] : []))
      .sort(inOrder)
      .filter((one) => !after || inOrder(after, one) < 0);
    return Promise.resolve(structuredClone(due.slice(0, limit)));
  }

  override known(subjects: readonly string[]): Promise<readonly string[]> {
    return Promise.resolve(subjects.filter((subject) => this.#watches.has(subject)));
  }
}

const inOrder = (one: DueWatch, other: DueWatch): number =>
  one.lookAt.getTime() - other.lookAt.getTime() || (one.subject < other.subject ? -1 : 1);
