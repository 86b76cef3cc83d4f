import type { DomainShares } from '../../src/domains/share-ports.ts';
import type { Accounts, ApiKeys } from '../../src/access/key-ports.ts';
import type { MailRequests } from '../../src/access/mail-ports.ts';
import type { People, Sessions, SignInLinks } from '../../src/access/people-ports.ts';
import type { AuditLog, IdempotencyKeys } from '../../src/access/ports.ts';
import type { CounterSnapshots } from '../../src/access/quota-ports.ts';
import type { UsageLog } from '../../src/access/usage-ports.ts';
import type { Orders, Pets } from '../../src/catalogue/ports.ts';
import type { Acting } from '../../src/kernel/acting.ts';
import type { JobLeases, Outbox, ParkedDeliveries } from '../../src/kernel/queue.ts';
import type { Retention } from '../../src/kernel/retention.ts';
import type { Route } from '../../src/domains/domain/redirects/routes.ts';
import type { ProjectSettings, Timeline } from '../../src/domains/ports.ts';
import type { CustomDomains, DueDomains } from '../../src/domains/custom-domain-ports.ts';
import type { MailChoices, Mails } from '../../src/notifications/mail-ports.ts';
import type { Notices } from '../../src/notifications/ports.ts';
import type { WebhookDeliveries, Webhooks } from '../../src/notifications/webhook-ports.ts';
import type { Projects } from '../../src/sites/ports.ts';
import type {
  AuthorityAccounts,
  AuthorityLedger,
  CertificateOrders,
  Certificates,
  DnsChallenges,
  OwnNames,
} from '../../src/domains/certificate-ports.ts';
import type { EdgeRecords } from '../../src/domains/edge-ports.ts';

/** Every storage port, over one storage. */
export interface StoragePorts {
  readonly pets: Pets;
  readonly orders: Orders;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly people: People;
  readonly sessions: Sessions;
  readonly signInLinks: SignInLinks;
  readonly mailRequests: MailRequests;
  readonly counterSnapshots: CounterSnapshots;
  readonly usage: UsageLog;
  readonly auditLog: AuditLog;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly projects: Projects;
  readonly edgeRecords: EdgeRecords;
  readonly certificates: Certificates;
  readonly edgeWriter: EdgeWriter;
  readonly domains: CustomDomains;
  readonly dueDomains: DueDomains;
  readonly settings: ProjectSettings;
  readonly timeline: Timeline;
  readonly certificateOrders: CertificateOrders;
  readonly dnsChallenges: DnsChallenges;
  readonly shares: DomainShares;
  readonly ownNames: OwnNames;
  readonly ledger: AuthorityLedger;
  readonly authorityAccounts: AuthorityAccounts;
  readonly jobLeases: JobLeases;
  readonly notices: Notices;
  readonly mails: Mails;
  readonly mailChoices: MailChoices;
  readonly webhooks: Webhooks;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly outbox: Outbox;
  readonly parkedDeliveries: ParkedDeliveries;
  readonly retention: Retention;
  /** Whose events are stored. */
  readonly acting: Acting;
}

/** What adapters do to the edges' records within a transaction of theirs, each by itself. */
export interface EdgeWriter {
  setRoute(route: Route): Promise<void>;
  removeRoute(name: string, removedAt: Date): Promise<void>;
  removeCertificate(host: string, removedAt: Date): Promise<void>;
}
