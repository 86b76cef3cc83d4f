import type { Kysely } from 'kysely';
import {
  assigned,
  createTables,
  id,
  integer,
  longText,
  maybe,
  primary,
  text,
  unique,
  type Tables,
} from '../tables.ts';

const access: Tables = {
  accounts: {
    columns: {
      id: primary(id),
      name: text(400),
      email: text(254),
      plan: text(16),
      per_minute: maybe(integer),
      per_day: maybe(integer),
      projects: maybe(integer),
      domains: maybe(integer),
      storage_gib: maybe(integer),
      created_at: integer,
      deleted_at: maybe(integer),
      warnings: longText,
      factor_demanded_at: maybe(integer),
    },
    indexes: { accounts_by_deletion: ['deleted_at'] },
  },
  people: {
    columns: {
      id: primary(id),
      account_id: id,
      email: text(254),
      role: text(16),
      name: maybe(text(100)),
      password_hash: maybe(text(255)),
      created_at: integer,
      joined_at: maybe(integer),
      proven_at: maybe(integer),
      factor_since: maybe(integer),
      notices_seen: maybe(integer),
    },
    unique: { people_by_email: ['email', 'account_id'] },
    foreignKeys: { people_account: ['account_id', 'accounts'] },
    indexes: { people_by_account: ['account_id', 'created_at', 'id'] },
  },
  sessions: {
    columns: {
      id: primary(id),
      person_id: id,
      secret_hash: unique(text(64)),
      way: text(16),
      browser: text(200),
      network: text(100),
      seen_at: integer,
      proven_at: maybe(integer),
      awaits_factor: integer,
      started_at: integer,
      ends_at: integer,
      others: longText,
      resets_password: integer,
    },
    foreignKeys: { sessions_person: ['person_id', 'people'] },
    indexes: {
      sessions_by_person: ['person_id', 'started_at', 'id'],
      sessions_by_end: ['ends_at'],
    },
  },
  second_factors: {
    columns: {
      person_id: primary(id),
      secret: maybe(longText),
      sealed_by: maybe(text(16)),
      app_since: maybe(integer),
      last_step: maybe(integer),
      passkeys: longText,
      recovery: longText,
      challenged_until: integer,
    },
    foreignKeys: { second_factors_person: ['person_id', 'people'] },
    indexes: { second_factors_sealed_by: ['sealed_by'] },
  },
  sign_in_links: {
    columns: {
      secret_hash: primary(text(64)),
      person_id: id,
      ends_at: integer,
      resets_password: integer,
    },
    foreignKeys: { sign_in_links_person: ['person_id', 'people'] },
    indexes: { sign_in_links_by_person: ['person_id'], sign_in_links_by_end: ['ends_at'] },
  },
  mail_requests: {
    columns: {
      id: primary(id),
      reason: text(32),
      email: text(254),
      person_id: maybe(id),
      source: text(100),
      device: maybe(text(400)),
      asked_at: integer,
      mailed_at: maybe(integer),
      turn: integer,
    },
    indexes: {
      mail_requests_by_turn: ['mailed_at', 'turn', 'id'],
      mail_requests_by_email: ['email', 'mailed_at'],
      mail_requests_by_age: ['asked_at'],
    },
  },
  api_keys: {
    columns: {
      id: primary(id),
      account_id: id,
      name: text(400),
      hint: text(40),
      scopes: text(255),
      project_id: maybe(id),
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
  },
  api_key_secrets: {
    columns: { secret_hash: primary(text(64)), key_id: id, ends_at: maybe(integer) },
    foreignKeys: { api_key_secrets_key: ['key_id', 'api_keys'] },
    indexes: { api_key_secrets_by_key: ['key_id'] },
  },
  idempotency_keys: {
    columns: {
      account_id: id,
      idempotency_key: text(255),
      fingerprint: text(64),
      answer: longText,
      created_at: integer,
    },
    primaryKey: ['account_id', 'idempotency_key'],
    indexes: { idempotency_keys_by_age: ['created_at'] },
  },
  quota_counters: {
    columns: { subject: primary(text(100)), data: text(1000), saved_at: integer },
    indexes: { quota_counters_by_age: ['saved_at'] },
  },
  usage_hours: {
    columns: {
      account_id: id,
      hour: integer,
      key_id: id,
      operation: text(32),
      outcome: text(16),
      requests: integer,
    },
    primaryKey: ['account_id', 'hour', 'key_id', 'operation', 'outcome'],
    // The second index has all that the sums of an operation's calls need, in the order of their groups.
    indexes: {
      usage_hours_by_age: ['hour'],
      usage_hours_by_operation: ['account_id', 'operation', 'key_id', 'hour', 'requests'],
    },
  },
  usage_days: {
    columns: {
      account_id: id,
      day: integer,
      key_id: id,
      outcome: text(16),
      requests: integer,
    },
    // In the order in which the usage page sums days.
    primaryKey: ['account_id', 'day', 'outcome', 'key_id'],
    indexes: { usage_days_by_age: ['day'] },
  },
};

const catalogue: Tables = {
  pets: {
    columns: {
      id: assigned,
      account_id: id,
      name: text(255),
      category_id: integer,
      status: text(16),
      searched_name: text(100),
    },
    foreignKeys: { pets_account: ['account_id', 'accounts'] },
    indexes: {
      pets_by_account: ['account_id', 'id'],
      pets_by_status: ['account_id', 'status', 'id'],
      pets_by_category: ['account_id', 'category_id', 'status', 'id'],
      pets_by_name: ['account_id', 'status', 'searched_name', 'id'],
      pets_by_category_and_name: ['account_id', 'category_id', 'status', 'searched_name', 'id'],
    },
  },
  orders: {
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
  },
};

const sites: Tables = {
  projects: {
    columns: {
      id: primary(id),
      account_id: id,
      name: text(400),
      slug: unique(text(63)),
      created_at: integer,
      deleted_at: maybe(integer),
      served_deploy_id: maybe(id),
      served_since: maybe(integer),
      last_number: integer,
      domain_settings: maybe(longText),
    },
    foreignKeys: { projects_account: ['account_id', 'accounts'] },
    indexes: {
      projects_by_account: ['account_id', 'created_at', 'id'],
      projects_by_deletion: ['deleted_at'],
    },
  },
  former_slugs: {
    columns: { slug: primary(text(63)), project_id: id, until: integer },
    foreignKeys: { former_slugs_project: ['project_id', 'projects'] },
    indexes: {
      former_slugs_by_project: ['project_id'],
      former_slugs_by_end: ['until'],
    },
  },
  deploys: {
    columns: {
      id: primary(id),
      project_id: id,
      number: integer,
      made_by: text(330),
      message: maybe(text(800)),
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
  },
  // No foreign key: it would lock the project after the revision, while other transactions lock the project first.
  routes: {
    columns: {
      name: primary(text(253)),
      project_id: id,
      deploy_id: maybe(id),
      redirect_to: maybe(text(2000)),
      redirect_status: maybe(integer),
      revision: unique(integer),
      removed_at: maybe(integer),
    },
    indexes: { routes_by_project: ['project_id'], routes_by_removal: ['removed_at'] },
  },
  certificates: {
    columns: {
      host: primary(text(253)),
      chain: maybe(longText),
      private_key: maybe(longText),
      sealed_by: maybe(text(16)),
      not_before: maybe(integer),
      not_after: maybe(integer),
      revision: unique(integer),
      removed_at: maybe(integer),
    },
    indexes: {
      certificates_by_removal: ['removed_at'],
      certificates_sealed_by: ['sealed_by'],
    },
  },
  edge_revision: {
    columns: { id: primary(integer), revision: integer, public_port: maybe(integer) },
    row: { id: 1, revision: 0 },
  },
};

const domains: Tables = {
  domains: {
    columns: {
      id: primary(id),
      account_id: id,
      project_id: id,
      host: text(253),
      // These two are null for names that need not be unique: MySQL has no partial indexes.
      attached_host: maybe(text(253)),
      proven_host: unique(maybe(text(253))),
      unicode_host: text(253),
      token: unique(text(63)),
      state: text(16),
      generation: integer,
      added_at: integer,
      details: longText,
      attention: integer,
      attention_at: integer,
      due_at: maybe(integer),
      claim: maybe(id),
      claimed_until: maybe(integer),
    },
    unique: { domains_attached: ['project_id', 'attached_host'] },
    foreignKeys: { domains_project: ['project_id', 'projects'] },
    indexes: {
      domains_by_account: ['account_id', 'added_at'],
      domains_by_account_and_host: ['account_id', 'host'],
      domains_by_account_and_attention: ['account_id', 'attention', 'attention_at', 'host', 'id'],
      domains_by_attention: ['project_id', 'attention', 'attention_at', 'host', 'id'],
      domains_by_project_and_state: [
        'project_id',
        'state',
        'attention',
        'attention_at',
        'host',
        'id',
      ],
      domains_by_host: ['project_id', 'host', 'added_at'],
      domains_by_name: ['host', 'state', 'id'],
      domains_by_project: ['project_id', 'added_at', 'id'],
      domains_by_state: ['state', 'id'],
      domains_due: ['due_at', 'id'],
      domains_by_claim: ['claim'],
    },
  },
  domain_timeline: {
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
  },
  domain_shares: {
    columns: {
      id: primary(id),
      account_id: id,
      domain_id: id,
      secret_hash: unique(text(64)),
      created_at: integer,
      ends_at: integer,
    },
    foreignKeys: { domain_shares_domain: ['domain_id', 'domains'] },
    indexes: {
      domain_shares_by_domain: ['domain_id', 'ends_at'],
      domain_shares_by_end: ['ends_at'],
    },
  },
  own_names: {
    columns: { host: primary(text(255)), generation: integer, details: longText },
  },
  certificate_orders: {
    columns: {
      subject: primary(text(300)),
      authority: text(255),
      host: text(253),
      private_key: longText,
      sealed_by: text(16),
      url: maybe(text(1000)),
      token: maybe(text(255)),
      key_authorization: maybe(text(1000)),
    },
    indexes: {
      certificate_orders_by_token: ['token'],
      certificate_orders_sealed_by: ['sealed_by'],
    },
  },
  dns_challenges: {
    columns: { label: text(63), value: text(255), subject: text(300), expires_at: integer },
    primaryKey: ['label', 'value', 'subject'],
    indexes: {
      dns_challenges_by_subject: ['subject'],
      dns_challenges_by_age: ['expires_at'],
    },
  },
  authority_accounts: {
    columns: {
      directory_url: primary(text(500)),
      url: text(1000),
      private_key: longText,
      sealed_by: text(16),
    },
    indexes: { authority_accounts_sealed_by: ['sealed_by'] },
  },
  authority_ledger: {
    columns: {
      id: assigned,
      kind: text(16),
      order_key: text(320),
      authority: text(255),
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
  },
  // Transactions lock this row while they count and store an order, so that two processes cannot both use the last one.
  authority_turn: {
    columns: { id: primary(integer), turn: integer },
    row: { id: 1, turn: 0 },
  },
};

const notifications: Tables = {
  notices: {
    columns: {
      id: assigned,
      event_id: unique(id),
      account_id: id,
      kind: text(64),
      about: longText,
      occurred_at: integer,
    },
    foreignKeys: { notices_account: ['account_id', 'accounts'] },
    indexes: { notices_by_account: ['account_id', 'id'], notices_by_age: ['occurred_at'] },
  },
  mails: {
    columns: {
      id: primary(text(120)),
      account_id: id,
      person_id: id,
      address: text(254),
      kind: text(64),
      subject: maybe(text(255)),
      facts: maybe(longText),
      sealed_by: maybe(text(16)),
      occurred_at: integer,
      message: text(120),
      send_at: integer,
      until: integer,
      attempts: integer,
      due_at: maybe(integer),
      claim: maybe(id),
      ended_at: maybe(integer),
      ending: maybe(text(16)),
      problem: maybe(text(2000)),
    },
    indexes: {
      mails_due: ['due_at', 'message'],
      mails_due_by_subject: ['subject', 'due_at'],
      mails_by_message: ['message'],
      mails_by_person: ['person_id', 'send_at'],
      mails_by_time: ['send_at'],
      mails_by_end: ['ended_at'],
      mails_sealed_by: ['sealed_by'],
    },
  },
  mail_choices: {
    columns: { person_id: id, kind_off: text(64) },
    primaryKey: ['person_id', 'kind_off'],
  },
  mail_troubles: {
    columns: { person_id: primary(id), since: integer, reason: text(2000) },
  },
  webhooks: {
    columns: {
      id: primary(id),
      account_id: id,
      address: text(2000),
      kinds: longText,
      created_at: integer,
      old_secrets_until: maybe(integer),
      state: text(16),
      failing_since: maybe(integer),
      failed_at: maybe(integer),
      is_slow: maybe(integer),
      reason: maybe(text(16)),
      off_since: maybe(integer),
      secrets: longText,
      sealed_by: text(16),
    },
    foreignKeys: { webhooks_account: ['account_id', 'accounts'] },
    indexes: {
      webhooks_by_account: ['account_id', 'id'],
      webhooks_by_reason: ['reason'],
      webhooks_sealed_by: ['sealed_by'],
    },
  },
  // No foreign key to the webhook: deliveries to a removed webhook expire like all others.
  webhook_deliveries: {
    columns: {
      id: primary(id),
      webhook_id: id,
      account_id: id,
      message_id: id,
      type: text(64),
      body: longText,
      added_at: integer,
      begun_at: integer,
      failures: integer,
      state: text(16),
      next_at: maybe(integer),
      receiver: text(300),
      is_slow: integer,
      claim: maybe(id),
    },
    unique: { webhook_deliveries_once: ['webhook_id', 'message_id'] },
    foreignKeys: { webhook_deliveries_account: ['account_id', 'accounts'] },
    indexes: {
      webhook_deliveries_by_account: ['account_id'],
      webhook_deliveries_due: ['is_slow', 'next_at'],
      webhook_deliveries_by_webhook: ['webhook_id', 'id'],
      webhook_deliveries_waiting: ['webhook_id', 'next_at'],
      webhook_deliveries_by_age: ['begun_at'],
    },
  },
  webhook_attempts: {
    columns: {
      id: assigned,
      delivery_id: id,
      at: integer,
      took_ms: integer,
      status: maybe(integer),
      why: maybe(text(16)),
      answer: longText,
    },
    indexes: {
      webhook_attempts_by_delivery: ['delivery_id', 'id'],
      webhook_attempts_by_age: ['at'],
    },
  },
};

const work: Tables = {
  events: {
    columns: {
      id: primary(id),
      account_id: id,
      type: text(64),
      details: longText,
      occurred_at: integer,
      actor: text(300),
      subject: maybe(text(40)),
    },
    // The audit log reads newest first with all indexes but the last. The sweep finds old events with the last one.
    indexes: {
      events_by_account: ['account_id', 'occurred_at'],
      events_by_type: ['account_id', 'type', 'occurred_at'],
      events_by_actor_and_type: ['account_id', 'actor', 'type', 'occurred_at'],
      events_by_subject: ['account_id', 'subject', 'occurred_at'],
      events_by_age: ['type', 'occurred_at'],
    },
  },
  deliveries: {
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
  },
  // One row per job that only one process of a fleet does at a time.
  job_leases: {
    columns: { job: primary(text(64)), holder: id, lease_until: integer },
  },
  backup_times: {
    columns: { step: primary(text(20)), moment: integer },
  },
};

/** The whole schema of version 1.0.0. */
export const tables: Tables = {
  ...access,
  ...catalogue,
  ...sites,
  ...domains,
  ...notifications,
  ...work,
};

export const up = (db: Kysely<unknown>): Promise<void> => createTables(db, tables);
