import { forgottenBefore } from '../../src/access/domain/idempotency.ts';
import {
  IdempotencyKeys,
  type IdempotencyOutcome,
  type IdempotentRequest,
  type KeptAnswer,
} from '../../src/access/ports.ts';

interface Kept {
  readonly fingerprint: string;
  readonly createdAt: Date;
  /** Absent while the work runs. */
  readonly answer?: KeptAnswer;
}

export class MemoryIdempotencyKeys extends IdempotencyKeys {
  readonly #kept = new Map<string, Kept>();

  override async once<Answer extends KeptAnswer>(
    { accountId, key, fingerprint, now }: IdempotentRequest,
    work: () => Promise<Answer>,
  ): Promise<IdempotencyOutcome<Answer>> {
    const slot = JSON.stringify([accountId, key]);
    const kept = this.#kept.get(slot);
    if (kept && !kept.answer) return { kind: 'in_progress' };
    if (kept?.answer && kept.createdAt >= forgottenBefore(now)) {
      if (kept.fingerprint !== fingerprint) return { kind: 'reused' };
      return { kind: 'replayed', answer: structuredClone(kept.answer) };
    }
    this.#kept.set(slot, { fingerprint, createdAt: now });
    try {
      const answer = await work();
      const { status, headers, body } = answer;
      const copy = structuredClone({ status, headers, body });
      this.#kept.set(slot, { fingerprint, createdAt: now, answer: copy });
      return { kind: 'answered', answer };
    } catch (error) {
      this.#kept.delete(slot);
      throw error;
    }
  }

  sweep(before: Date): Promise<number> {
    const old = [...this.#kept].filter(([, kept]) => kept.answer && kept.createdAt < before);
    for (const [slot] of old) this.#kept.delete(slot);
    return Promise.resolve(old.length);
  }
}
