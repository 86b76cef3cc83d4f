import type { EndingOperation } from './domain/account.ts';
import type { Acting } from '../kernel/acting.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Sealer } from '../kernel/sealer.ts';
import type { Accounts, ApiKeys, KeyMaterial } from './key-ports.ts';
import type { MailRequests, PersonalMails } from './mail-ports.ts';
import type { Passwords, People, Sessions, SignInLinks } from './people-ports.ts';
import type { HighUses, QuotaCounters } from './quota-ports.ts';
import type { UsageLog } from './usage-ports.ts';

export interface AuditEntry {
  readonly id: string;
  readonly accountId: string;
  /** Who did it; see `Acting`. */
  readonly actor: string;
  readonly what: string;
  readonly occurredAt: Date;
  /** The event's own ids, words and numbers. */
  readonly details: Readonly<Record<string, string | number>>;
}

/** Filter for the audit log; an absent field does not filter. */
export interface AuditSearch {
  /** Who did it; see `Acting`. */
  readonly actor?: string | undefined;
  readonly kinds?: readonly string[] | undefined;
  readonly before?: Pick<AuditEntry, 'id' | 'occurredAt'> | undefined;
}

/** What happened in an account, for its owner to read: its stored events, but for those that it hides. */
export abstract class AuditLog {
  /** Newest first. Reads about as many entries as it returns, however long the log is. */
  abstract list(
    accountId: string,
    limit: number,
    search?: AuditSearch,
  ): Promise<readonly AuditEntry[]>;
}

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface IdempotentRequest {
  readonly accountId: string;
  readonly key: string;
  /** Distinguishes this request from others with the same key. */
  readonly fingerprint: string;
  readonly now: Date;
}

export type IdempotencyOutcome<Answer extends KeptAnswer = KeptAnswer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'replayed'; readonly answer: KeptAnswer }
  | { readonly kind: 'in_progress' | 'reused' }
  /**
   * The database kept the key without its answer, so it lost part of a transaction; what else was stored is unknown.
   */
  | { readonly kind: 'unknown' };

export abstract class IdempotencyKeys {
  /**
   * Runs `work` once per account and key. What `work` writes and its answer are stored in one transaction: after a
   * crash there is both or neither. When `work` throws, nothing is kept and the key is free again. Other parts of its
   * result are not stored. The transaction may run again, and `work` with it, so `work` does nothing but queries.
   * @param admit runs before the transaction, unless the request has its answer already; what it throws ends the request
   */
  abstract once<Answer extends KeptAnswer>(
    request: IdempotentRequest,
    work: () => Promise<Answer>,
    admit?: () => Promise<void>,
  ): Promise<IdempotencyOutcome<Answer>>;
}

export interface AccessPorts {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly keyMaterial: KeyMaterial;
  readonly counters: QuotaCounters;
  readonly highUses: HighUses;
  readonly usage: UsageLog;
  readonly people: People;
  readonly sessions: Sessions;
  readonly signInLinks: SignInLinks;
  readonly mailRequests: MailRequests;
  readonly personalMails: PersonalMails;
  readonly passwords: Passwords;
  readonly sealer: Sealer;
  readonly acting: Acting;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Operations that will be removed, by the ids that usage is counted under. */
  readonly endings: readonly EndingOperation[];
}
