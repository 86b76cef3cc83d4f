import { AuditLog, type AuditEntry } from '../../access/ports.ts';
import type { StoredEvent } from '../../kernel/domain-event.ts';

export class MemoryAuditLog extends AuditLog {
  readonly #entries = new Map<string, AuditEntry>();

  override record({ id, event }: StoredEvent): Promise<void> {
    const { type, accountId, occurredAt, ...details } = event;
    this.#entries.set(id, structuredClone({ id, accountId, what: type, occurredAt, details }));
    return Promise.resolve();
  }

  override list(accountId: string, limit: number): Promise<readonly AuditEntry[]> {
    const newestFirst = (a: AuditEntry, b: AuditEntry) =>
      b.occurredAt.getTime() - a.occurredAt.getTime() || (a.id < b.id ? 1 : -1);
    const mine = [...this.#entries.values()].filter((entry) => entry.accountId === accountId);
    return Promise.resolve(structuredClone(mine.sort(newestFirst).slice(0, limit)));
  }
}
