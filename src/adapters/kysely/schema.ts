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
    proven_at: Int64 | null;
    /** The id of the newest notice that they have seen. */
    notices_seen: Int64 | null;
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
    /** 0 or 1. */
    resets_password: Int64;
  };
  sign_in_links: {
    secret_hash: string;
    person_id: string;
    ends_at: Int64;
    /** 0 or 1. */
    resets_password: Int64;
  };
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
    authority: string;
    subject: string;
    host: string;
    /** Sealed. */
    private_key: string;
    sealed_by: string;
    url: string | null;
    token: string | null;
    key_authorization: string | null;
  };
  /** The platform's own names. */
  own_names: {
    host: string;
    generation: Int64;
    /** JSON. */
    details: string;
  };
  /** What our name servers answer. */
  dns_challenges: { label: string; value: string; subject: string; expires_at: Int64 };
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
    authority: string;
    account_id: string;
    host: string;
    registrable_domain: string;
    is_manual: Int64;
    occurred_at: Int64;
  };
  job_leases: { job: string; holder: string; lease_until: Int64 };
  backup_times: { step: string; moment: Int64 };
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
  mail_requests: {
    id: string;
    reason: string;
    email: string;
    person_id: string | null;
    asked_at: Int64;
    /** Until then it waits for an answer. */
    mailed_at: Int64 | null;
    source: string;
    /** Ids with spaces in between. */
    device: string | null;
    turn: Int64;
  };
  notices: {
    id: Generated<Int64>;
    /** Of the event that it is about. */
    event_id: string;
    account_id: string;
    kind: string;
    /** JSON. */
    about: string;
    occurred_at: Int64;
  };
  watches: {
    subject: string;
    /** JSON. */
    memory: string;
    version: Int64;
    look_at: Int64 | null;
  };
  mails: {
    id: string;
    account_id: string;
    person_id: string;
    address: string;
    kind: string;
    subject: string | null;
    /** Sealed JSON, until it is sent or given up. */
    facts: string | null;
    sealed_by: string | null;
    occurred_at: Int64;
    /** The id of the first mail of its message. */
    message: string;
    send_at: Int64;
    attempts: Int64;
    /** When to try it next, or when the claim ends. */
    due_at: Int64 | null;
    claim: string | null;
    ended_at: Int64 | null;
    ending: string | null;
    problem: string | null;
    /** It is not sent after that. */
    until: Int64;
  };
  domain_shares: {
    id: string;
    account_id: string;
    domain_id: string;
    /** SHA-256. */
    secret_hash: string;
    created_at: Int64;
    ends_at: Int64;
  };
  mail_choices: { person_id: string; kind_off: string };
  mail_troubles: { person_id: string; since: Int64; reason: string };
  webhooks: {
    id: string;
    account_id: string;
    address: string;
    /** JSON. */
    kinds: string;
    created_at: Int64;
    old_secrets_until: Int64 | null;
    state: string;
    failing_since: Int64 | null;
    failed_at: Int64 | null;
    is_slow: Int64 | null;
    reason: string | null;
    off_since: Int64 | null;
    /** Sealed JSON. */
    secrets: string;
    sealed_by: string;
  };
  webhook_deliveries: {
    id: string;
    webhook_id: string;
    account_id: string;
    message_id: string;
    type: string;
    body: string;
    added_at: Int64;
    /** When it was added, or last sent again. */
    begun_at: Int64;
    failures: Int64;
    state: string;
    /** While it waits: when it is due, or when the claim ends. */
    next_at: Int64 | null;
    receiver: string;
    /** Whether it waits among the slow ones. */
    is_slow: Int64;
    claim: string | null;
  };
  webhook_attempts: {
    id: Generated<Int64>;
    delivery_id: string;
    at: Int64;
    took_ms: Int64;
    status: Int64 | null;
    why: string | null;
    /** The beginning of the answer, or why there is none. */
    answer: string;
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
