import { PersonalMails, type PersonalMail } from '../../src/access/mail-ports.ts';

export class MemoryPersonalMails extends PersonalMails {
  readonly #mails = new Map<string, PersonalMail>();

  /** Oldest first. */
  get all(): readonly PersonalMail[] {
    return structuredClone([...this.#mails.values()]);
  }

  override add(mail: PersonalMail): Promise<void> {
    if (!this.#mails.has(mail.id)) this.#mails.set(mail.id, structuredClone(mail));
    return Promise.resolve();
  }
}
