import type { People } from '../../src/access/people-ports.ts';
import type { NotificationKind } from '../../src/notifications/domain/notification.ts';
import { MailChoices } from '../../src/notifications/mail-ports.ts';

type Kinds = ReadonlySet<NotificationKind>;

export class MemoryMailChoices extends MailChoices {
  readonly #people: Pick<People, 'find'>;
  readonly #off = new Map<string, Kinds>();

  constructor(people: Pick<People, 'find'>) {
    super();
    this.#people = people;
  }

  override async off(personIds: readonly string[]): Promise<ReadonlyMap<string, Kinds>> {
    const found = new Map<string, Kinds>();
    for (const id of personIds) {
      const off = this.#off.get(id);
      if (off && off.size > 0 && (await this.#people.find(id))) found.set(id, new Set(off));
    }
    return found;
  }

  override async choose(personId: string, off: Kinds): Promise<void> {
    if (await this.#people.find(personId)) this.#off.set(personId, new Set(off));
  }

  override async switchOff(personId: string, kinds: readonly NotificationKind[]): Promise<void> {
    await this.choose(personId, new Set([...(this.#off.get(personId) ?? []), ...kinds]));
  }

  async sweep(): Promise<number> {
    let swept = 0;
    for (const [personId, off] of this.#off) {
      if (await this.#people.find(personId)) continue;
      this.#off.delete(personId);
      swept += off.size;
    }
    return swept;
  }
}
