import {
  countedTogether,
  mailsCountedSince,
  type MailReason,
  type MailRequest,
  type PastMail,
} from '../../src/access/domain/mail-request.ts';
import { MailRequests } from '../../src/access/mail-ports.ts';

export class MemoryMailRequests extends MailRequests {
  readonly #requests = new Map<string, MailRequest & { readonly mailedAt?: Date }>();
  /** Being answered: another one does not answer it too. */
  readonly #locked = new Set<string>();

  override add(request: MailRequest): Promise<void> {
    if (!this.#requests.has(request.id)) this.#requests.set(request.id, structuredClone(request));
    return Promise.resolve();
  }

  override waiting(limit: number, after?: MailRequest): Promise<readonly MailRequest[]> {
    const all = [...this.#requests.values()].filter(
      (one) => !one.mailedAt && one.id > (after?.id ?? ''),
    );
    return Promise.resolve(structuredClone(all.sort(byId).slice(0, limit)));
  }

  override async answer(
    id: string,
    now: Date,
    answer: Parameters<MailRequests['answer']>[2],
  ): Promise<void> {
    const request = this.#requests.get(id);
    if (!request || request.mailedAt || this.#locked.has(id)) return;
    this.#locked.add(id);
    try {
      const before = await this.mailed(request.email, request.reason, now);
      const isMailed = await answer(structuredClone(request), before);
      if (isMailed) this.#requests.set(id, { ...request, mailedAt: new Date(now) });
      else this.#requests.delete(id);
    } finally {
      this.#locked.delete(id);
    }
  }

  sweep(before: Date): Promise<number> {
    const old = [...this.#requests.values()].filter(({ askedAt }) => askedAt < before);
    for (const { id } of old) this.#requests.delete(id);
    return Promise.resolve(old.length);
  }

  override mailed(email: string, reason: MailReason, now: Date): Promise<readonly PastMail[]> {
    const since = mailsCountedSince(now);
    const mailed = [...this.#requests.values()]
      .filter((one) => one.email === email && countedTogether(reason).includes(one.reason))
      .flatMap(({ mailedAt: at, source, device }) =>
        at && at > since ? [{ at, source, device }] : [],
      );
    return Promise.resolve(structuredClone(mailed));
  }
}

const byId = (one: MailRequest, other: MailRequest): number => (one.id < other.id ? -1 : 1);
