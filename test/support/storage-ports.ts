import type {
  Accounts,
  ApiKeys,
  AuditLog,
  CounterSnapshots,
  IdempotencyKeys,
  UsageLog,
} from '../../src/access/ports.ts';
import type { Orders, Pets } from '../../src/catalogue/ports.ts';
import type { Outbox } from '../../src/kernel/outbox.ts';
import type { Projects } from '../../src/sites/ports.ts';

/** Every port that keeps something, over one storage. */
export interface StoragePorts {
  readonly pets: Pets;
  readonly orders: Orders;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly counterSnapshots: CounterSnapshots;
  readonly usage: UsageLog;
  readonly auditLog: AuditLog;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly projects: Projects;
  readonly outbox: Outbox;
}
