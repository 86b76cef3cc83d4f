import type { CaUse } from './domain/certificates/ca-budget.ts';
import type { LedgerName } from './domain/certificates/ca-ledger.ts';
import type { OwnName } from './domain/own/own-name.ts';
import type { OwnChange } from './domain/own/own-name.ts';

/**
 * The platform's own names that got a certificate, or asked for one. Every change stores the ledger, the certificate and
 * the end of the order in the same step, or nothing at all.
 */
export abstract class OwnNames {
  abstract all(): Promise<readonly OwnName[]>;

  abstract find(host: string): Promise<OwnName | undefined>;

  /**
   * Locks the name, decides and saves.
   * @param decide synchronous; gets undefined for a name that is not stored yet
   */
  abstract change<Change extends OwnChange>(
    host: string,
    decide: (name: OwnName | undefined) => Change,
  ): Promise<Change>;

  /** As `change`; `decide` also receives the current use. Counting and deciding are one step. */
  abstract changeCounted<Change extends OwnChange>(
    name: LedgerName,
    now: Date,
    decide: (name: OwnName | undefined, use: CaUse) => Change,
  ): Promise<Change>;

  /**
   * Locks the name, and deletes it with its order and its certificate if it is over. Edges no longer serve the certificate.
   * @param isOver synchronous
   * @returns whether it was over; false for a name that is not stored
   */
  abstract forget(host: string, now: Date, isOver: (name: OwnName) => boolean): Promise<boolean>;
}
