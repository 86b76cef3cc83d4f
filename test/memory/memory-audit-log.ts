import { AuditLog, type AuditEntry, type AuditSearch } from '../../src/access/ports.ts';
import type { StoredEvent } from '../../src/kernel/domain-event.ts';
import type { MemoryOutbox } from './memory-outbox.ts';

type Place = Pick<AuditEntry, 'id' | 'occurredAt'>;

export class MemoryAuditLog extends AuditLog {
  readonly #outbox: Pick<MemoryOutbox, 'stored'>;
  readonly #hiddenTypes: readonly string[];

  constructor(outbox: Pick<MemoryOutbox, 'stored'>, hiddenTypes: readonly string[]) {
    super();
    this.#outbox = outbox;
    this.#hiddenTypes = hiddenTypes;
  }

  override list(
    accountId: string,
    limit: number,
    { actor, kinds, before }: AuditSearch = {},
  ): Promise<readonly AuditEntry[]> {
    const mine = this.#outbox.stored
      .map(entryOf)
      .filter((entry) => entry.accountId === accountId)
      .filter((entry) => !this.#hiddenTypes.includes(entry.what))
      .filter((entry) => actor === undefined || entry.actor === actor)
      .filter((entry) => !kinds || kinds.includes(entry.what))
      .filter((entry) => !before || newestFirst(entry, before) > 0);
    return Promise.resolve(structuredClone(mine.sort(newestFirst).slice(0, limit)));
  }
}

const entryOf = ({ id, actor, event }: StoredEvent): AuditEntry => {
  const { type: what, accountId, occurredAt, ...details } = event;
  return { id, accountId, actor, what, occurredAt, details };
};

const newestFirst = (a: Place, b: Place): number =>
  b.occurredAt.getTime() - a.occurredAt.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
