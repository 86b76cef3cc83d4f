import { UuidIds, AsyncActing } from '../../../src/adapters/system/system-ports.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import { Database } from '../../../src/adapters/kysely/database.ts';
import { KyselyOutbox } from '../../../src/adapters/kysely/kysely-outbox.ts';
import { KyselyWebhookDeliveries } from '../../../src/adapters/kysely/notifications/kysely-webhook-deliveries.ts';
import { KyselyWebhooks } from '../../../src/adapters/kysely/notifications/kysely-webhooks.ts';
import { callingOver } from './receivers.ts';
import { realOutside } from './real-outside.ts';

/** The webhooks of a service's first account, read from its database. */
export class StoredWebhooks {
  readonly #database: Database;
  readonly #calls: ReturnType<typeof callingOver>['calls'];

  constructor(url: string, secretKey: string) {
    this.#database = new Database(url, { patient: true });
    const [ids, sealer] = [new UuidIds(), new AesGcmSealer(Buffer.from(secretKey))];
    const outbox = new KyselyOutbox(this.#database, {
      ...{ ids, acting: new AsyncActing('service'), subscribersOf: () => [] },
      onStored: () => undefined,
    });
    const stores = {
      webhooks: new KyselyWebhooks(this.#database, outbox, sealer),
      webhookDeliveries: new KyselyWebhookDeliveries(this.#database, outbox, { sealer, ids }),
    };
    this.#calls = callingOver(stores, realOutside()).calls;
  }

  /** @returns the webhook with its secret */
  async add(address: string, kind: string) {
    const accounts = this.#database.root.selectFrom('accounts').select('id');
    const { id } = await accounts.executeTakeFirstOrThrow();
    return this.#calls.addWebhook(id, { address, kinds: [kind] });
  }

  /** The number of deliveries in each state. */
  async states(): Promise<Readonly<Record<string, number>>> {
    const deliveries = this.#database.root.selectFrom('webhook_deliveries');
    const rows = await deliveries.select('state').execute();
    const byState = Map.groupBy(rows, ({ state }) => state);
    return Object.fromEntries([...byState].map(([state, { length }]) => [state, length]));
  }

  /** Advances past the leases of a dead process. */
  async endLeases(): Promise<void> {
    await this.#makeDue(true);
  }

  /** Advances past the waits of failed deliveries. */
  async endWaits(): Promise<void> {
    await this.#makeDue(false);
  }

  #makeDue(isClaimed: boolean): Promise<unknown> {
    return this.#database.transaction((db) =>
      db
        .updateTable('webhook_deliveries')
        .set({ next_at: 0n })
        .where('next_at', 'is not', null)
        .where('claim', isClaimed ? 'is not' : 'is', null)
        .execute(),
    );
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
