import type { ExpressionBuilder, Selectable } from 'kysely';
import {
  type IdempotencyKeys,
  type IdempotencyOutcome,
  type IdempotentRequest,
  type KeptAnswer,
  forgottenBefore,
} from '../../../access/ports.ts';
import { Store } from '../store.ts';
import { refusedAs } from '../engine/failure.ts';
import { toMillis, type Schema } from '../database.ts';
import { idempotencyKeys } from './tables.ts';

/** The row's value while its transaction is open. Others see it only if half of that transaction was committed. */
const unanswered = '';

type Slot = Readonly<{ accountId: string; key: string }>;
type Kept = Pick<Selectable<Schema['idempotency_keys']>, 'fingerprint' | 'answer'>;

export class KyselyIdempotencyKeys extends Store implements IdempotencyKeys {
  readonly #running = new Set<string>();

  readonly #find = this.database.prepare<Slot & { since: bigint }, Kept>((db, the) =>
    db
      .selectFrom('idempotency_keys')
      .select(['fingerprint', 'answer'])
      .where('account_id', '=', the('accountId'))
      .where('idempotency_key', '=', the('key'))
      .where('created_at', '>=', the('since')),
  );

  readonly #take = this.database.prepareWrite<Selectable<Schema['idempotency_keys']>>((db, the) =>
    db.insertInto('idempotency_keys').values(idempotencyKeys.slots(the)),
  );

  readonly #keep = this.database.prepareWithNext<Slot & { answer: string }>((db, the) =>
    db
      .updateTable('idempotency_keys')
      .set({ answer: the('answer') })
      .where('account_id', '=', the('accountId'))
      .where('idempotency_key', '=', the('key')),
  );

  async once<Answer extends KeptAnswer>(
    request: IdempotentRequest,
    work: () => Promise<Answer>,
    admit?: () => Promise<void>,
  ): Promise<IdempotencyOutcome<Answer>> {
    const slot = JSON.stringify([request.accountId, request.key]);
    if (this.#running.has(slot)) return { kind: 'in_progress' };
    this.#running.add(slot);
    try {
      // Reading first costs no round trip here, and keeps repeated requests away from the only writer.
      const looksFirst = this.database.engine.isInProcess || admit !== undefined;
      const known = looksFirst ? await this.#kept(request) : undefined;
      if (known) return known;
      await admit?.();
      return await this.#settle(request, work);
    } finally {
      this.#running.delete(slot);
    }
  }

  async replace(
    { accountId, key }: IdempotentRequest,
    answer: KeptAnswer,
    by: KeptAnswer | undefined,
  ): Promise<boolean> {
    const kept = ({ eb, and }: ExpressionBuilder<Schema, 'idempotency_keys'>) =>
      and([
        eb('account_id', '=', accountId),
        eb('idempotency_key', '=', key),
        eb('answer', '=', JSON.stringify(answer)),
      ]);
    if (!by) {
      const freed = this.db.deleteFrom('idempotency_keys').where(kept);
      return (await freed.executeTakeFirst()).numDeletedRows > 0n;
    }
    const changed = this.db
      .updateTable('idempotency_keys')
      .set({ answer: JSON.stringify(by) })
      .where(kept);
    return (await changed.executeTakeFirst()).numUpdatedRows > 0n;
  }

  async #settle<Answer extends KeptAnswer>(
    request: IdempotentRequest,
    work: () => Promise<Answer>,
    isAgain = false,
  ): Promise<IdempotencyOutcome<Answer>> {
    try {
      return { kind: 'answered', answer: await this.#answer(request, work) };
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      // Another process has answered meanwhile or holds the key.
      const kept = await this.#kept(request);
      if (kept) return kept;
      // An expired key is free, unless a rival takes it first.
      const isFree = !error.isLocked && !isAgain && (await this.#forget(request));
      return isFree ? this.#settle(request, work, true) : { kind: 'in_progress' };
    }
  }

  async #forget({ accountId, key, now }: IdempotentRequest): Promise<boolean> {
    const { numDeletedRows } = await this.db
      .deleteFrom('idempotency_keys')
      .where('account_id', '=', accountId)
      .where('idempotency_key', '=', key)
      .where('created_at', '<', toMillis(forgottenBefore(now)))
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  async #kept({
    accountId,
    key,
    fingerprint,
    now,
  }: IdempotentRequest): Promise<Exclude<IdempotencyOutcome, { kind: 'answered' }> | undefined> {
    const since = toMillis(forgottenBefore(now));
    const [row] = await this.#find({ accountId, key, since });
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) return { kind: 'reused' };
    if (row.answer === unanswered) return { kind: 'unknown' };
    return { kind: 'replayed', answer: JSON.parse(row.answer) as KeptAnswer };
  }

  /** Stores the row first, so that a rival in another process waits for the outcome or is refused. */
  #answer<Answer extends KeptAnswer>(
    { accountId, key, fingerprint, now }: IdempotentRequest,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const taken = { accountId, idempotencyKey: key, fingerprint, createdAt: now };
    return this.database.transaction(async () => {
      await refusedAs(this.#take(idempotencyKeys.write({ ...taken, answer: unanswered })), {
        lock_timeout: () => new KeyTaken(true),
        duplicate: () => new KeyTaken(false),
      });
      const answer = await work();
      const { status, headers, body } = answer;
      const kept: KeptAnswer = { status, headers, body };
      await this.#keep({ accountId, key, answer: JSON.stringify(kept) });
      return answer;
    });
  }
}

class KeyTaken extends Error {
  readonly isLocked: boolean;

  constructor(isLocked: boolean) {
    super('the key is taken');
    this.isLocked = isLocked;
  }
}
