import { sql, type Kysely } from 'kysely';
import { columnsFor, createTableOnce, maybe, primary, unique } from '../tables.ts';

type Db = Kysely<unknown>;

/** Version 1.0.0. */
export const up = async (db: Db): Promise<void> => {
  for (const create of [
    ...[accounts, apiKeys, people, sessions, quotas, usage],
    ...[pets, orders, idempotencyKeys],
    ...[projects, deploys, edge, domains, timeline, certificateOrders, authority],
    ...[events, jobLeases],
  ]) {
    await create(db);
  }
};

const accounts = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'accounts', {
    columns: {
      id: primary(id),
      name: text(400),
      email: text(254),
      plan: text(16),
      per_minute: maybe(integer),
      per_day: maybe(integer),
      created_at: integer,
      warnings: longText,
    },
  });
};

const apiKeys = async (db: Db): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  await createTableOnce(db, 'api_keys', {
    columns: {
      id: primary(id),
      account_id: id,
      name: text(400),
      hint: text(40),
      scopes: text(255),
      created_at: integer,
      expires_at: maybe(integer),
      revoked_at: maybe(integer),
      last_used_at: maybe(integer),
      ban_since: maybe(integer),
      ban_until: maybe(integer),
      ban_minutes: maybe(integer),
    },
    foreignKeys: { api_keys_account: ['account_id', 'accounts'] },
    indexes: { api_keys_by_account: ['account_id', 'created_at'] },
  });
  await createTableOnce(db, 'api_key_secrets', {
    columns: { secret_hash: primary(text(64)), key_id: id, ends_at: maybe(integer) },
    foreignKeys: { api_key_secrets_key: ['key_id', 'api_keys'] },
    indexes: { api_key_secrets_by_key: ['key_id'] },
  });
};

const people = (db: Db): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  return createTableOnce(db, 'people', {
    columns: {
      id: primary(id),
      account_id: id,
      email: text(254),
      password_hash: maybe(text(255)),
      created_at: integer,
      joined_at: maybe(integer),
    },
    unique: { people_by_email: ['email', 'account_id'] },
    foreignKeys: { people_account: ['account_id', 'accounts'] },
    indexes: { people_by_account: ['account_id', 'created_at', 'id'] },
  });
};

const sessions = async (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  await createTableOnce(db, 'sessions', {
    columns: {
      id: primary(id),
      person_id: id,
      secret_hash: unique(text(64)),
      way: text(16),
      browser: text(200),
      started_at: integer,
      ends_at: integer,
      others: longText,
    },
    foreignKeys: { sessions_person: ['person_id', 'people'] },
    indexes: {
      sessions_by_person: ['person_id', 'started_at', 'id'],
      sessions_by_end: ['ends_at'],
    },
  });
  await createTableOnce(db, 'sign_in_links', {
    columns: { secret_hash: primary(text(64)), person_id: id, ends_at: integer },
    foreignKeys: { sign_in_links_person: ['person_id', 'people'] },
    indexes: { sign_in_links_by_person: ['person_id'], sign_in_links_by_end: ['ends_at'] },
  });
};

const quotas = (db: Db): Promise<void> => {
  const { text, integer } = columnsFor(db);
  return createTableOnce(db, 'quota_counters', {
    columns: { subject: primary(text(100)), data: text(1000), saved_at: integer },
    indexes: { quota_counters_by_age: ['saved_at'] },
  });
};

const usage = (db: Db): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  return createTableOnce(db, 'usage_hours', {
    columns: {
      account_id: id,
      hour: integer,
      key_id: id,
      operation: text(32),
      outcome: text(16),
      requests: integer,
    },
    primaryKey: ['account_id', 'hour', 'key_id', 'operation', 'outcome'],
    indexes: { usage_hours_by_age: ['hour'] },
  });
};

const pets = (db: Db): Promise<void> => {
  const { id, text, integer, assigned } = columnsFor(db);
  return createTableOnce(db, 'pets', {
    columns: {
      id: assigned,
      account_id: id,
      name: text(255),
      category_id: integer,
      status: text(16),
    },
    foreignKeys: { pets_account: ['account_id', 'accounts'] },
    indexes: {
      pets_by_account: ['account_id', 'id'],
      pets_by_status: ['account_id', 'status', 'id'],
    },
  });
};

const orders = (db: Db): Promise<void> => {
  const { id, text, integer, assigned } = columnsFor(db);
  return createTableOnce(db, 'orders', {
    columns: {
      id: assigned,
      account_id: id,
      pet_id: unique(integer),
      quantity: integer,
      ship_date: integer,
      status: text(16),
    },
    foreignKeys: {
      orders_account: ['account_id', 'accounts'],
      orders_pet: ['pet_id', 'pets'],
    },
    indexes: {
      orders_by_account: ['account_id', 'id'],
      orders_by_status: ['account_id', 'status', 'id'],
    },
  });
};

const idempotencyKeys = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'idempotency_keys', {
    columns: {
      account_id: id,
      idempotency_key: text(255),
      fingerprint: text(64),
      answer: longText,
      created_at: integer,
    },
    primaryKey: ['account_id', 'idempotency_key'],
    indexes: { idempotency_keys_by_age: ['created_at'] },
  });
};

const projects = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'projects', {
    columns: {
      id: primary(id),
      account_id: id,
      name: text(400),
      slug: unique(text(63)),
      created_at: integer,
      served_deploy_id: maybe(id),
      last_number: integer,
      domain_settings: maybe(longText),
    },
    foreignKeys: { projects_account: ['account_id', 'accounts'] },
    indexes: { projects_by_account: ['account_id', 'created_at', 'id'] },
  });
};

const deploys = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  return createTableOnce(db, 'deploys', {
    columns: {
      id: primary(id),
      project_id: id,
      number: integer,
      state: text(16),
      started_at: integer,
      finished_at: maybe(integer),
      files: maybe(integer),
      bytes: maybe(integer),
      problem: maybe(text(64)),
      explanation: maybe(longText),
    },
    unique: { deploys_number: ['project_id', 'number'] },
    foreignKeys: { deploys_project: ['project_id', 'projects'] },
    indexes: { deploys_by_state: ['state', 'started_at'] },
  });
};

const edge = async (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  const removable = { revision: unique(integer), removed_at: maybe(integer) };
  // No foreign key: it would lock the project after the revision, and others lock them the other way round.
  await createTableOnce(db, 'routes', {
    columns: {
      name: primary(text(253)),
      project_id: id,
      deploy_id: maybe(id),
      redirect_to: maybe(text(2000)),
      redirect_status: maybe(integer),
      ...removable,
    },
    indexes: { routes_by_project: ['project_id'], routes_by_removal: ['removed_at'] },
  });
  await createTableOnce(db, 'certificates', {
    columns: {
      host: primary(text(253)),
      chain: maybe(longText),
      private_key: maybe(longText),
      sealed_by: maybe(text(16)),
      not_before: maybe(integer),
      not_after: maybe(integer),
      ...removable,
    },
    indexes: {
      certificates_by_removal: ['removed_at'],
      certificates_sealed_by: ['sealed_by'],
    },
  });
  await createTableOnce(db, 'edge_revision', {
    columns: { id: primary(integer), revision: integer, public_port: maybe(integer) },
  });
  await insertFirst(db, 'edge_revision', 'revision');
};

const domains = (db: Db): Promise<void> => {
  const { id, text, longText, integer } = columnsFor(db);
  // Two columns that are null for names that need not be unique: MySQL has no partial indexes.
  return createTableOnce(db, 'domains', {
    columns: {
      id: primary(id),
      account_id: id,
      project_id: id,
      host: text(253),
      attached_host: maybe(text(253)),
      proven_host: unique(maybe(text(253))),
      unicode_host: text(253),
      token: unique(text(63)),
      state: text(16),
      generation: integer,
      added_at: integer,
      details: longText,
      due_at: maybe(integer),
      claim: maybe(id),
      claimed_until: maybe(integer),
    },
    unique: { domains_attached: ['project_id', 'attached_host'] },
    foreignKeys: { domains_project: ['project_id', 'projects'] },
    indexes: {
      domains_by_account: ['account_id', 'added_at'],
      domains_by_host: ['project_id', 'host', 'added_at'],
      domains_by_project: ['project_id', 'added_at', 'id'],
      domains_by_state: ['state', 'id'],
      domains_due: ['due_at', 'id'],
      domains_by_claim: ['claim'],
    },
  });
};

const timeline = (db: Db): Promise<void> => {
  const { id, text, longText, integer, assigned } = columnsFor(db);
  return createTableOnce(db, 'domain_timeline', {
    columns: {
      id: assigned,
      domain_id: id,
      kind: text(32),
      details: longText,
      occurred_at: integer,
    },
    indexes: {
      domain_timeline_by_domain: ['domain_id', 'id'],
      domain_timeline_by_age: ['occurred_at'],
      domain_timeline_by_domain_and_kind: ['domain_id', 'kind', 'id'],
      domain_timeline_by_kind_and_age: ['kind', 'occurred_at'],
    },
  });
};

const certificateOrders = async (db: Db): Promise<void> => {
  const { text, longText } = columnsFor(db);
  const sealed = { private_key: longText, sealed_by: text(16) };
  await createTableOnce(db, 'certificate_orders', {
    columns: {
      subject: primary(text(300)),
      host: text(253),
      ...sealed,
      url: maybe(text(1000)),
      token: maybe(text(255)),
      key_authorization: maybe(text(1000)),
    },
    indexes: {
      certificate_orders_by_token: ['token'],
      certificate_orders_sealed_by: ['sealed_by'],
    },
  });
  await createTableOnce(db, 'authority_accounts', {
    columns: { directory_url: primary(text(500)), url: text(1000), ...sealed },
    indexes: { authority_accounts_sealed_by: ['sealed_by'] },
  });
};

const authority = async (db: Db): Promise<void> => {
  const { id, text, integer, assigned } = columnsFor(db);
  await createTableOnce(db, 'authority_ledger', {
    columns: {
      id: assigned,
      kind: text(16),
      order_key: text(320),
      account_id: id,
      host: text(253),
      registrable_domain: text(253),
      is_manual: integer,
      occurred_at: integer,
    },
    indexes: {
      authority_ledger_by_age: ['occurred_at'],
      authority_ledger_by_kind: ['kind', 'occurred_at'],
      authority_ledger_by_host: ['host', 'kind', 'occurred_at'],
      authority_ledger_by_domain: ['registrable_domain', 'kind', 'occurred_at'],
      authority_ledger_by_account: ['account_id', 'kind', 'occurred_at'],
      authority_ledger_by_order: ['order_key'],
    },
  });
  // One row that is locked while an order is counted and entered, so that two processes cannot both take the last one.
  await createTableOnce(db, 'authority_turn', {
    columns: { id: primary(integer), turn: integer },
  });
  await insertFirst(db, 'authority_turn', 'turn');
};

const events = async (db: Db): Promise<void> => {
  const { id, text, longText, integer, assigned } = columnsFor(db);
  await createTableOnce(db, 'events', {
    columns: {
      id: primary(id),
      account_id: id,
      type: text(64),
      details: longText,
      occurred_at: integer,
      actor: text(300),
    },
    // The audit log reads the first four, newest first; the sweep finds old events with the last.
    indexes: {
      events_by_account: ['account_id', 'occurred_at'],
      events_by_actor: ['account_id', 'actor', 'occurred_at'],
      events_by_type: ['account_id', 'type', 'occurred_at'],
      events_by_actor_and_type: ['account_id', 'actor', 'type', 'occurred_at'],
      events_by_age: ['type', 'occurred_at'],
    },
  });
  await createTableOnce(db, 'deliveries', {
    columns: {
      id: assigned,
      event_id: id,
      subscriber: text(64),
      attempts: integer,
      due_at: integer,
      parked: integer,
      claim: maybe(id),
      problem: maybe(longText),
    },
    foreignKeys: { deliveries_event: ['event_id', 'events'] },
    indexes: {
      deliveries_due: ['parked', 'due_at'],
      deliveries_by_claim: ['claim'],
      deliveries_by_event: ['event_id'],
    },
  });
};

/** One row for each job that one process of a fleet does at a time. */
const jobLeases = (db: Db): Promise<void> => {
  const { id, text, integer } = columnsFor(db);
  return createTableOnce(db, 'job_leases', {
    columns: { job: primary(text(64)), holder: id, lease_until: integer },
  });
};

/** Inserts the only row of a table, unless it exists. */
const insertFirst = async (db: Db, table: string, count: string): Promise<void> => {
  const { rows } = await sql`select id from ${sql.table(table)}`.execute(db);
  if (rows.length > 0) return;
  await sql`insert into ${sql.table(table)} (id, ${sql.ref(count)}) values (1, 0)`.execute(db);
};
