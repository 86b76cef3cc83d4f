import { AuditLog, type AuditEntry, type AuditSearch } from '../../src/access/ports.ts';
import type { StoredEvent } from '../../src/kernel/domain-event.ts';

type Place = Pick<AuditEntry, 'id' | 'occurredAt'>;

export class MemoryAuditLog extends AuditLog {
  readonly #entries = new Map<string, AuditEntry>();

  override record({ id, actor, event }: StoredEvent): Promise<void> {
    const { type, accountId, occurredAt, ...details } = event;
    const entry = { id, accountId, actor, what: type, occurredAt, details };
    this.#entries.set(id, structuredClone(entry));
    return Promise.resolve();
  }

  override list(
    accountId: string,
    limit: number,
    { actor, kinds, before }: AuditSearch = {},
  ): Promise<readonly AuditEntry[]> {
    const mine = [...this.#entries.values()]
      .filter((entry) => entry.accountId === accountId)
      .filter((entry) => actor === undefined || entry.actor === actor)
      .filter((entry) => !kinds || kinds.includes(entry.what))
      .filter((entry) => !before || newestFirst(entry, before) > 0);
    return Promise.resolve(structuredClone(mine.sort(newestFirst).slice(0, limit)));
  }
}

const newestFirst = (a: Place, b: Place): number =>
  b.occurredAt.getTime() - a.occurredAt.getTime() || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
