import { type Database, fromMillis } from '../../src/adapters/kysely/database.ts';
import { KyselySecondFactors } from '../../src/adapters/kysely/access/kysely-second-factors.ts';
import {
  removeRoutes,
  setRoute,
  KyselyProjectSettings,
} from '../../src/adapters/kysely/sites/project-routes.ts';
import { KyselyAccounts } from '../../src/adapters/kysely/access/kysely-accounts.ts';
import { KyselyApiKeys } from '../../src/adapters/kysely/access/kysely-api-keys.ts';
import { KyselyAuditLog } from '../../src/adapters/kysely/access/kysely-audit-log.ts';
import {
  KyselyAuthorityAccounts,
  KyselyCertificateOrders,
  KyselyDnsChallenges,
  KyselyAuthorityLedger,
  writeLedger,
} from '../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import { KyselyDomainShares } from '../../src/adapters/kysely/sites/kysely-domain-shares.ts';
import {
  KyselyCertificates,
  removeCertificate,
  storeCertificate,
  KyselyOwnNames,
} from '../../src/adapters/kysely/sites/kysely-certificates.ts';
import {
  KyselyCounterSnapshots,
  KyselyUsageLog,
} from '../../src/adapters/kysely/access/kysely-usage-log.ts';
import {
  KyselyCustomDomains,
  KyselyDueDomains,
} from '../../src/adapters/kysely/sites/kysely-custom-domains.ts';
import { KyselyEdgeRecords } from '../../src/adapters/kysely/sites/kysely-edge-records.ts';
import { KyselyIdempotencyKeys } from '../../src/adapters/kysely/access/kysely-idempotency-keys.ts';
import { KyselyJobLeases, KyselyRetention } from '../../src/adapters/kysely/kysely-retention.ts';
import {
  KyselyMailChoices,
  KyselyMails,
} from '../../src/adapters/kysely/notifications/kysely-mails.ts';
import { KyselyMailRequests } from '../../src/adapters/kysely/access/kysely-mail-requests.ts';
import { KyselyNotices } from '../../src/adapters/kysely/notifications/kysely-notices.ts';
import { KyselyWebhookDeliveries } from '../../src/adapters/kysely/notifications/kysely-webhook-deliveries.ts';
import { KyselyWebhooks } from '../../src/adapters/kysely/notifications/kysely-webhooks.ts';
import { KyselyOrders, KyselyPets } from '../../src/adapters/kysely/kysely-catalogue.ts';
import {
  KyselyOutbox,
  KyselyParkedDeliveries,
  type OutboxPorts,
} from '../../src/adapters/kysely/kysely-outbox.ts';
import { KyselyPeople } from '../../src/adapters/kysely/access/kysely-people.ts';
import { KyselyProjects } from '../../src/adapters/kysely/sites/kysely-projects.ts';
import {
  KyselySessions,
  KyselySignInLinks,
} from '../../src/adapters/kysely/access/kysely-sessions.ts';
import { KyselyTimeline } from '../../src/adapters/kysely/sites/domain-changes.ts';
import type { DomainEvent } from '../../src/kernel/decision.ts';
import type { Clock } from '../../src/kernel/ports.ts';
import { SettableClock } from './settable-clock.ts';
import { AesGcmSealer } from '../../src/adapters/system/secrets.ts';
import { AsyncActing, UuidIds } from '../../src/adapters/system/system-ports.ts';
import { retention } from '../../src/app/retention.ts';
import { shownTypes } from '../../src/app/subscriptions.ts';
import { now } from './accounts.ts';
import { openDatabase, type DatabaseKind } from './servers/databases.ts';
import { migratedDatabase } from './servers/migrated-database.ts';
import type { EdgeWriter, StoragePorts } from './storage-ports.ts';

export interface Stores extends StoragePorts {
  /** The same storage through separate adapters, as in another process. */
  readonly secondProcess: StoragePorts;
  /** Stores events like an adapter. */
  readonly happen: (...events: readonly DomainEvent[]) => Promise<void>;
  /** All events that are not swept, the oldest first. */
  events(): Promise<readonly DomainEvent[]>;
  /** Runs one transaction, which stays open until the work is done. */
  together<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** The subscribers; by default one `witness` for every event. */
  readonly subscribersOf?: (type: string) => readonly string[];
  readonly onStored?: OutboxPorts['onStored'];
  /** Called with the account of a new mail. */
  readonly onMail?: (accountId: string) => void;
  /** Called with the address of the database. */
  readonly onOpened?: (url: string) => void;
  /** A stopped clock by default. */
  readonly clock?: Clock;
}

/** Empty storage for one test file. */
export const openStores = async (
  kind: DatabaseKind,
  {
    subscribersOf = () => ['witness'],
    onStored = () => undefined,
    onMail = () => undefined,
    onOpened = () => undefined,
    clock = new SettableClock(now),
  }: StoreOptions = {},
): Promise<Stores> => {
  const home = await migratedDatabase(kind);
  onOpened(home.url);
  const database = openDatabase(home.url);
  const second = openDatabase(home.url);
  for (const one of [database, second]) await warmUp(one);
  const ports = kyselyPorts(database, { subscribersOf, onStored, onMail, clock });
  return {
    ...ports,
    happen: (...events) => ports.outbox.append(events),
    secondProcess: kyselyPorts(second, { subscribersOf, onStored, onMail, clock }),
    events: () => eventsOf(database),
    together: (work) => database.transaction(work),
    close: async () => {
      await database.close();
      await second.close();
      await home.drop();
    },
  };
};

/** Ids of events ascend. */
const eventsOf = async (database: Database): Promise<readonly DomainEvent[]> => {
  const rows = await database.db.selectFrom('events').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    ...(JSON.parse(row.details) as Readonly<Record<string, unknown>>),
    type: row.type,
    accountId: row.account_id,
    occurredAt: fromMillis(row.occurred_at),
  }));
};

/** The secret key of every test process. */
export const testSealer = new AesGcmSealer(Buffer.from('a secret key that everybody knows'));

/** Opens all connections of the pool, so that concurrent calls do not wait for one. */
const warmUp = (database: Database): Promise<unknown> =>
  Promise.all(Array.from({ length: 10 }, () => database.ping()));

const kyselyPorts = (
  database: Database,
  { subscribersOf, onStored, onMail, clock }: Required<Omit<StoreOptions, 'onOpened'>>,
) => {
  const ids = new UuidIds();
  const acting = new AsyncActing('service');
  const outbox = new KyselyOutbox(database, { ids, acting, subscribersOf, onStored });
  const pets = new KyselyPets(database, outbox);
  const apiKeys = new KyselyApiKeys(database, outbox);
  const people = new KyselyPeople(database, outbox);
  return {
    pets,
    orders: new KyselyOrders(database, outbox, pets),
    accounts: new KyselyAccounts(database, outbox, { apiKeys, people }),
    apiKeys,
    people,
    sessions: new KyselySessions(database, outbox),
    secondFactors: new KyselySecondFactors(database, outbox, testSealer),
    signInLinks: new KyselySignInLinks(database, outbox),
    mailRequests: new KyselyMailRequests(database),
    counterSnapshots: new KyselyCounterSnapshots(database),
    usage: new KyselyUsageLog(database),
    auditLog: new KyselyAuditLog(database, shownTypes),
    idempotencyKeys: new KyselyIdempotencyKeys(database),
    projects: new KyselyProjects(database, outbox),
    edgeRecords: new KyselyEdgeRecords(database, testSealer),
    certificates: new KyselyCertificates(database),
    edgeWriter: writerOf(database),
    domains: new KyselyCustomDomains(database, outbox, { sealer: testSealer, clock }),
    dueDomains: new KyselyDueDomains(database, ids),
    settings: new KyselyProjectSettings(database, outbox, clock),
    timeline: new KyselyTimeline(database),
    certificateOrders: new KyselyCertificateOrders(database, testSealer),
    dnsChallenges: new KyselyDnsChallenges(database),
    shares: new KyselyDomainShares(database, outbox),
    ownNames: new KyselyOwnNames(database, testSealer),
    ledger: new KyselyAuthorityLedger(database),
    jobLeases: new KyselyJobLeases(database),
    notices: new KyselyNotices(database),
    mails: new KyselyMails(database, { sealer: testSealer, ids, onAdded: onMail }),
    mailChoices: new KyselyMailChoices(database),
    webhooks: new KyselyWebhooks(database, outbox, testSealer),
    webhookDeliveries: new KyselyWebhookDeliveries(database, outbox, { sealer: testSealer, ids }),
    authorityAccounts: new KyselyAuthorityAccounts(database, testSealer),
    outbox,
    parkedDeliveries: new KyselyParkedDeliveries(database),
    // So small that the tests see several slices.
    retention: new KyselyRetention(database, retention, 2),
    acting,
  } satisfies StoragePorts;
};

const writerOf = (database: Database): EdgeWriter => ({
  setRoute: (route) => database.transaction((db) => setRoute(db, route)),
  removeRoute: (name, at) => database.transaction((db) => removeRoutes(db, [name], at)),
  saveCertificate: (one) => database.transaction((db) => storeCertificate(db, testSealer, one)),
  removeCertificate: (host, at) => database.transaction((db) => removeCertificate(db, host, at)),
  writeLedger: (change) => database.transaction((db) => writeLedger(db, change)),
});
