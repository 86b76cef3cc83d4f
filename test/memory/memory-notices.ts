import type { Notification } from '../../src/notifications/domain/notification.ts';
import { Notices, type Notice, type Reader } from '../../src/notifications/ports.ts';
import type { MemoryAccounts } from './memory-accounts.ts';

export class MemoryNotices extends Notices {
  readonly #accounts: Pick<MemoryAccounts, 'find' | 'people'>;
  #notices: readonly Notice[] = [];
  readonly #seen = new Map<string, bigint>();
  #last = 0n;

  constructor(accounts: Pick<MemoryAccounts, 'find' | 'people'>) {
    super();
    this.#accounts = accounts;
  }

  override async add(notification: Notification): Promise<void> {
    const account = await this.#accounts.find(notification.accountId);
    if (!account) throw new Error('no such account');
    if (this.#notices.some(({ id }) => id === notification.id)) return;
    this.#last += 1n;
    this.#notices = [{ ...structuredClone(notification), place: this.#last }, ...this.#notices];
  }

  override list(accountId: string, limit: number, before?: bigint): Promise<readonly Notice[]> {
    const older = this.#of(accountId).filter(({ place }) => before === undefined || place < before);
    return Promise.resolve(structuredClone(older.slice(0, limit)));
  }

  override newest(accountId: string): Promise<bigint> {
    return Promise.resolve(this.#of(accountId)[0]?.place ?? 0n);
  }

  override async unread(reader: Reader, most: number): Promise<number> {
    if (!(await this.#isThere(reader))) return 0;
    const seen = this.#seen.get(reader.personId) ?? 0n;
    const unseen = this.#of(reader.accountId).filter(({ place }) => place > seen);
    return Math.min(unseen.length, most);
  }

  override async markSeen(reader: Reader, place: bigint): Promise<bigint> {
    if (!(await this.#isThere(reader))) return 0n;
    const before = this.#seen.get(reader.personId) ?? 0n;
    if (place > before) this.#seen.set(reader.personId, place);
    return before;
  }

  sweep(before: Date): Promise<number> {
    const kept = this.#notices.filter(({ occurredAt }) => occurredAt >= before);
    const swept = this.#notices.length - kept.length;
    this.#notices = kept;
    return Promise.resolve(swept);
  }

  async #isThere({ accountId, personId }: Reader): Promise<boolean> {
    return (await this.#accounts.people.find(personId))?.accountId === accountId;
  }

  /** Newest first. */
  #of(accountId: string): readonly Notice[] {
    return this.#notices.filter((notice) => notice.accountId === accountId);
  }
}
