import type {
  DomainShares,
  ProjectSettings,
  Timeline,
  CustomDomains,
  DueDomains,
  EdgeRecords,
} from '../../src/domains/ports.ts';
import type {
  Accounts,
  ApiKeys,
  AuditLog,
  IdempotencyKeys,
  CounterSnapshots,
  UsageLog,
} from '../../src/access/ports.ts';
import type {
  MailRequests,
  People,
  SecondFactors,
  Sessions,
  SignInLinks,
} from '../../src/access/people-ports.ts';
import type { Orders, Pets } from '../../src/catalogue/ports.ts';
import type { Acting, Retention } from '../../src/kernel/ports.ts';
import type { JobLeases, Outbox, ParkedDeliveries } from '../../src/kernel/queue.ts';
import type { Certificate } from '../../src/domains/domain/certificates/renewal.ts';
import type { LedgerChange } from '../../src/domains/domain/certificates/ca-budget.ts';
import type { Route } from '../../src/domains/domain/redirects/redirects.ts';
import type { MailChoices, Mails, Notices } from '../../src/notifications/ports.ts';
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

/** Every storage port, over one database. */
export interface StoragePorts {
  readonly pets: Pets;
  readonly orders: Orders;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly people: People;
  readonly sessions: Sessions;
  readonly secondFactors: SecondFactors;
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
  /** Sets the actor of stored events. */
  readonly acting: Acting;
}

/** Adapters that write within transactions of others, here each in a separate one. */
export interface EdgeWriter {
  setRoute(route: Route): Promise<void>;
  removeRoute(name: string, removedAt: Date): Promise<void>;
  saveCertificate(certificate: Certificate): Promise<void>;
  removeCertificate(host: string, removedAt: Date): Promise<void>;
  writeLedger(change: LedgerChange): Promise<void>;
}
