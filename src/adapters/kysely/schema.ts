import type { Generated } from 'kysely';
import type { Limits } from '../../access/domain/plan.ts';
import { isActor, type Actor } from '../../kernel/acting.ts';

/** Every integer column is an int64 and arrives as a bigint; times are epoch milliseconds. */
type Int64 = bigint;

export interface Schema {
  accounts: {
    id: string;
    name: string;
    email: string;
    plan: string;
    per_minute: Int64 | null;
    per_day: Int64 | null;
    created_at: Int64;
  };
  api_keys: {
    id: string;
    account_id: string;
    name: string;
    hint: string;
    scopes: string;
    created_at: Int64;
    expires_at: Int64 | null;
    revoked_at: Int64 | null;
    last_used_at: Int64 | null;
    ban_since: Int64 | null;
    ban_until: Int64 | null;
    ban_minutes: Int64 | null;
  };
  api_key_secrets: { secret_hash: string; key_id: string; ends_at: Int64 | null };
  people: {
    id: string;
    account_id: string;
    email: string;
    password_hash: string | null;
    created_at: Int64;
    joined_at: Int64 | null;
  };
  sessions: {
    id: string;
    person_id: string;
    secret_hash: string;
    way: string;
    browser: string;
    started_at: Int64;
    ends_at: Int64;
    /** JSON. */
    others: string;
  };
  sign_in_links: { secret_hash: string; person_id: string; ends_at: Int64 };
  quota_counters: { subject: string; data: string; saved_at: Int64 };
  usage_hours: {
    account_id: string;
    hour: Int64;
    key_id: string;
    operation: string;
    outcome: string;
    requests: Int64;
  };
  pets: {
    id: Generated<Int64>;
    account_id: string;
    name: string;
    category_id: Int64;
    status: string;
  };
  orders: {
    id: Generated<Int64>;
    account_id: string;
    pet_id: Int64;
    quantity: Int64;
    ship_date: Int64;
    status: string;
  };
  idempotency_keys: {
    account_id: string;
    idempotency_key: string;
    fingerprint: string;
    answer: string;
    created_at: Int64;
  };
  projects: {
    id: string;
    account_id: string;
    name: string;
    slug: string;
    created_at: Int64;
    served_deploy_id: string | null;
    /** The highest that a deploy of the project ever had, also once that deploy is deleted. */
    last_number: Int64;
    /** JSON. */
    domain_settings: string | null;
  };
  deploys: {
    id: string;
    project_id: string;
    number: Int64;
    state: string;
    started_at: Int64;
    finished_at: Int64 | null;
    files: Int64 | null;
    bytes: Int64 | null;
    problem: string | null;
    explanation: string | null;
  };
  /** A removed route stays for a while with `removed_at`, so that every edge learns of it; so do certificates. */
  routes: {
    name: string;
    project_id: string;
    deploy_id: string | null;
    redirect_to: string | null;
    redirect_status: Int64 | null;
    revision: Int64;
    removed_at: Int64 | null;
  };
  certificates: {
    host: string;
    chain: string | null;
    /** Sealed. */
    private_key: string | null;
    /** Id of the key that it is sealed under. */
    sealed_by: string | null;
    not_before: Int64 | null;
    not_after: Int64 | null;
    revision: Int64;
    removed_at: Int64 | null;
  };
  /** One row. */
  edge_revision: { id: Int64; revision: Int64; public_port: Int64 | null };
  domains: {
    id: string;
    account_id: string;
    project_id: string;
    host: string;
    /** The host, until the domain is removed: once in a project. */
    attached_host: string | null;
    /** The host, while it is verified or live: once over all accounts. */
    proven_host: string | null;
    unicode_host: string;
    token: string;
    state: string;
    generation: Int64;
    added_at: Int64;
    /** JSON of the fields that are never searched. */
    details: string;
    due_at: Int64 | null;
    claim: string | null;
    claimed_until: Int64 | null;
  };
  domain_timeline: {
    id: Generated<Int64>;
    domain_id: string;
    kind: string;
    /** JSON. */
    details: string;
    occurred_at: Int64;
  };
  certificate_orders: {
    subject: string;
    host: string;
    /** Sealed. */
    private_key: string;
    sealed_by: string;
    url: string | null;
    token: string | null;
    key_authorization: string | null;
  };
  authority_accounts: {
    directory_url: string;
    url: string;
    /** Sealed. */
    private_key: string;
    sealed_by: string;
  };
  authority_ledger: {
    id: Generated<Int64>;
    kind: string;
    order_key: string;
    account_id: string;
    host: string;
    registrable_domain: string;
    is_manual: Int64;
    occurred_at: Int64;
  };
  job_leases: { job: string; holder: string; lease_until: Int64 };
  /** One row. */
  authority_turn: { id: Int64; turn: Int64 };
  events: {
    id: string;
    account_id: string;
    type: string;
    details: string;
    occurred_at: Int64;
    actor: string;
  };
  deliveries: {
    id: Generated<Int64>;
    event_id: string;
    subscriber: string;
    attempts: Int64;
    due_at: Int64;
    parked: Int64;
    claim: string | null;
    problem: string | null;
  };
}

/**
 * The columns that store these fields: `RowOf<Pet>` has `category_id: bigint`. A mapping to `satisfies RowOf<…>` does not
 * compile while it lacks a field. Objects and lists are JSON or text.
 */
export type RowOf<Fields> = {
  readonly [Name in keyof Fields as ColumnOf<Name & string>]-?: StoredAs<Fields[Name]>;
};

type ColumnOf<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnOf<Rest>}`
  : '';

type StoredAs<Value> = Value extends undefined
  ? null
  : Value extends number | bigint | boolean | Date
    ? bigint
    : string;

export const toMillis = (date: Date): bigint => BigInt(date.getTime());
export const fromMillis = (millis: bigint): Date => new Date(Number(millis));
export const toMillisOrNull = (date: Date | undefined): bigint | null =>
  date ? toMillis(date) : null;
export const fromMillisOrNull = (millis: bigint | null): Date | undefined =>
  millis === null ? undefined : fromMillis(millis);

/** A stored word that the code does not know: the row is corrupt, or newer than this version. */
export const oneOf = <Word extends string>(words: readonly Word[], stored: string): Word => {
  const word = words.find((known) => known === stored);
  if (word === undefined)
    throw new Error(`stored word "${stored}" is not one of ${words.join(', ')}`);
  return word;
};

/** A value that a row in this state must have; without it the row is corrupt. */
export const present = <Value>(column: string, stored: Value | null): Value => {
  if (stored === null) throw new Error(`stored ${column} is missing`);
  return stored;
};

export const actorFrom = (stored: string): Actor => {
  if (!isActor(stored)) throw new Error(`stored actor "${stored}" is invalid`);
  return stored;
};

export const ownLimitsRow = (limits: Limits | undefined) =>
  ({
    per_minute: limits ? BigInt(limits.perMinute) : null,
    per_day: limits ? BigInt(limits.perDay) : null,
  }) satisfies RowOf<Partial<Limits>>;

export const ownLimitsFrom = (
  perMinute: bigint | null,
  perDay: bigint | null,
): Limits | undefined =>
  perMinute === null || perDay === null
    ? undefined
    : { perMinute: Number(perMinute), perDay: Number(perDay) };
