import { sql, type Selectable } from 'kysely';
import type { StoredWork } from '../../../domains/domain/certificates/certificate-work.ts';
import {
  caWindows,
  type CaUse,
  type CaWindow,
  type Times,
  type LedgerChange,
  type LedgerEntry,
  type LedgerName,
} from '../../../domains/domain/certificates/ca-budget.ts';
import { attachmentIn, subjectsOf } from '../../../domains/domain/attachment/domain-certificate.ts';
import type {
  CertificateOrders,
  Challenge,
  KeptOrder,
  PlacedOrder,
  DnsChallenge,
  DnsChallenges,
  AuthorityAccounts,
  AuthorityAccount,
  AuthorityLedger,
} from '../../../domains/certificate-ports.ts';
import { SealingStore, Store, unlessStored } from '../store.ts';
import { type Queries, fromMillis, toMillis, type Schema } from '../database.ts';
import { openColumns, sealedColumns } from '../sealed-values.ts';
import { authorityLedger, certificateOrders, dnsChallenges } from './tables.ts';

const keptOrder = certificateOrders.only('authority', 'subject', 'host', 'url');

export class KyselyCertificateOrders extends SealingStore implements CertificateOrders {
  readonly #answer = this.database.prepare<
    { host: string; token: string },
    { key_authorization: string | null }
  >((db, the) =>
    db
      .selectFrom('certificate_orders')
      .select('key_authorization')
      .where('token', '=', the('token'))
      .where('host', '=', the('host')),
  );

  async find(subject: string): Promise<KeptOrder | undefined> {
    const row = await this.db
      .selectFrom('certificate_orders')
      .selectAll()
      .where('subject', '=', subject)
      .executeTakeFirst();
    return row && this.#orderFrom(row);
  }

  async begin({
    authority,
    subject,
    host,
    privateKey,
  }: Omit<KeptOrder, 'url'>): Promise<KeptOrder | undefined> {
    const secret = { key: subject, secret: privateKey };
    const row = {
      ...certificateOrders.write({ authority, subject, host }),
      ...sealedColumns(this.sealer, 'certificate_orders', secret),
    };
    // The transaction is retried if it deadlocks with the deletion of an order.
    const isRemoved = await this.database.transaction(async (db) => {
      if (await this.#isRemoved(attachmentIn(subject))) return true;
      await unlessStored(db.insertInto('certificate_orders').values(row).execute());
      return false;
    });
    return isRemoved ? undefined : this.#kept(subject);
  }

  async placed(subject: string, url: string, ledger: LedgerChange = {}): Promise<PlacedOrder> {
    await this.database.transaction(async (db) => {
      await db
        .updateTable('certificate_orders')
        .set(certificateOrders.write({ url }))
        .where('subject', '=', subject)
        .where('url', 'is', null)
        .execute();
      await writeLedger(db, ledger);
    });
    const kept = await this.#kept(subject);
    return { ...kept, url: kept.url ?? url };
  }

  async publish(subject: string, challenge: Challenge): Promise<void> {
    await this.db
      .updateTable('certificate_orders')
      .set(certificateOrders.only('token', 'keyAuthorization').write(challenge))
      .where('subject', '=', subject)
      .execute();
    await this.#kept(subject);
  }

  async forget(subject: string, ledger: LedgerChange = {}): Promise<void> {
    await this.database.transaction((db) => writeWorkDone(db, { endsOrder: subject, ledger }));
  }

  async answer(host: string, token: string): Promise<string | undefined> {
    const [row] = await this.#answer({ host, token });
    return row?.key_authorization ?? undefined;
  }

  /** Locks the domain, so that either it is removed before the order begins, or its removal deletes the order. */
  async #isRemoved(domainId: string | undefined): Promise<boolean> {
    if (domainId === undefined) return false;
    const domain = await this.database.lock('domains', domainId);
    return domain?.state === 'removed';
  }

  async #kept(subject: string): Promise<KeptOrder> {
    const kept = await this.find(subject);
    if (!kept) throw new Error(`the order of ${subject} was forgotten meanwhile`);
    return kept;
  }

  #orderFrom(row: Selectable<Schema['certificate_orders']>): KeptOrder {
    return {
      ...keptOrder.read(row),
      privateKey: openColumns(this.sealer, 'certificate_orders', row),
    };
  }
}

export const writeWorkDone = async (
  db: Queries,
  { endsOrder, ledger = {} }: StoredWork,
): Promise<void> => {
  if (endsOrder !== undefined) await forgetOrder(db, endsOrder);
  await writeLedger(db, ledger);
};

export const forgetOrder = async (db: Queries, subject: string): Promise<void> => {
  await db.deleteFrom('certificate_orders').where('subject', '=', subject).execute();
  await db.deleteFrom('dns_challenges').where('subject', '=', subject).execute();
};

export const forgetOrdersOf = async (db: Queries, domainId: string): Promise<void> => {
  const first = subjectsOf(domainId);
  // The range ends at ";", the character after ":".
  const end = first.replace(/:$/, ';');
  for (const table of ['certificate_orders', 'dns_challenges'] as const) {
    await db.deleteFrom(table).where('subject', '>=', first).where('subject', '<', end).execute();
  }
};

export class KyselyDnsChallenges extends Store implements DnsChallenges {
  async publish(subject: string, challenge: DnsChallenge): Promise<void> {
    const row = dnsChallenges.write({ ...challenge, subject });
    await this.database.transaction(async (db) => {
      // If the order is still there, forgetting it later deletes this value too.
      const order = await db
        .selectFrom('certificate_orders')
        .select('subject')
        .where('subject', '=', subject)
        .$call(this.database.engine.locked)
        .executeTakeFirst();
      if (!order) throw new Error(`the order of ${subject} was forgotten meanwhile`);
      await this.database.engine
        .upsert({
          insert: db.insertInto('dns_challenges').values(row),
          key: ['label', 'value', 'subject'],
          change: { expires_at: sql`${row.expires_at}` },
        })
        .execute();
    });
  }

  async valuesFor(
    labels: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.db
      .selectFrom('dns_challenges')
      .select(['label', 'value'])
      .where('label', 'in', [...labels])
      .where('expires_at', '>', toMillis(now))
      .orderBy('value')
      .execute();
    const values = new Map<string, readonly string[]>();
    for (const { label, value } of rows) {
      // Two orders may have the same challenge.
      values.set(label, [...new Set(values.get(label)).add(value)]);
    }
    return values;
  }
}

export class KyselyAuthorityAccounts extends SealingStore implements AuthorityAccounts {
  readonly #find = this.database.prepare<
    { directoryUrl: string },
    Selectable<Schema['authority_accounts']>
  >((db, the) =>
    db
      .selectFrom('authority_accounts')
      .selectAll()
      .where('directory_url', '=', the('directoryUrl')),
  );

  async find(directoryUrl: string): Promise<AuthorityAccount | undefined> {
    const [row] = await this.#find({ directoryUrl });
    return row && { url: row.url, privateKey: openColumns(this.sealer, 'authority_accounts', row) };
  }

  async save(directoryUrl: string, account: AuthorityAccount, lostUrl?: string): Promise<void> {
    const secret = { key: directoryUrl, secret: account.privateKey };
    const row = { url: account.url, ...sealedColumns(this.sealer, 'authority_accounts', secret) };
    if (lostUrl !== undefined) {
      await this.db
        .updateTable('authority_accounts')
        .set(row)
        .where('directory_url', '=', directoryUrl)
        .where('url', '=', lostUrl)
        .execute();
      return;
    }
    const added = { directory_url: directoryUrl, ...row };
    await unlessStored(this.db.insertInto('authority_accounts').values(added).execute());
  }
}

export class KyselyAuthorityLedger extends Store implements AuthorityLedger {
  use(name: LedgerName, now: Date): Promise<CaUse> {
    return useOf(this.db, name, now);
  }

  orders(authority: string, now: Date): Promise<Times> {
    return within(this.db, { authority, now }, 'orders', ordersOfAll);
  }
}

/** Serialises transactions that count. Call it first. */
export const takeTurn = async (db: Queries): Promise<void> => {
  await db
    .updateTable('authority_turn')
    .set(({ eb }) => ({ turn: eb('turn', '+', 1n) }))
    .execute();
};

export const writeLedger = async (
  db: Queries,
  { freed = [], entered = [] }: LedgerChange,
): Promise<void> => {
  for (const { kind, orderKey } of freed) {
    await db
      .deleteFrom('authority_ledger')
      .where('order_key', '=', orderKey)
      .where('kind', '=', kind)
      .execute();
  }
  if (entered.length === 0) return;
  const rows = entered.map((entry) => authorityLedger.write(entry));
  await db.insertInto('authority_ledger').values(rows).execute();
};

export const useOf = async (
  db: Queries,
  { authority, accountId, host, registrableDomain }: LedgerName,
  now: Date,
): Promise<CaUse> => {
  const times = (window: CaWindow, what: LedgerFilter) =>
    within(db, { authority, now }, window, what);
  const failures = { kinds: ['failure'], host } as const;
  const issued = { kinds: ['issued'] } as const;
  const everywhere = { authority: undefined, now };
  return {
    automaticFailures: await times('automaticFailures', { ...failures, is_manual: 0n }),
    manualFailures: await times('manualFailures', { ...failures, is_manual: 1n }),
    orders: await times('orders', ordersOfAll),
    accountOrders: await times('accountOrders', { kinds: ['order'], account_id: accountId }),
    registeredDomain: await times('registeredDomain', {
      kinds: ['issued', 'own'],
      registrable_domain: registrableDomain,
    }),
    exactName: await times('exactName', { ...issued, host }),
    ownHosts: await within(db, everywhere, 'ownHosts', { kinds: ['own'] }),
  };
};

const ordersOfAll = { kinds: ['order', 'renewal'] } as const;

const within = async (
  db: Queries,
  { authority, now }: { readonly authority: string | undefined; readonly now: Date },
  window: CaWindow,
  { kinds, ...what }: LedgerFilter,
): Promise<Times> => {
  const { lengthMs, most } = caWindows[window];
  let query = db
    .selectFrom('authority_ledger')
    .select('occurred_at')
    .where('kind', 'in', kinds)
    .where('occurred_at', '>', BigInt(now.getTime() - lengthMs))
    .orderBy('occurred_at', 'desc')
    .limit(most);
  if (authority !== undefined) query = query.where('authority', '=', authority);
  for (const [column, value] of Object.entries(what)) {
    query = query.where(column as keyof typeof what, '=', value);
  }
  const rows = await query.execute();
  return rows.map(({ occurred_at }) => fromMillis(occurred_at));
};

type LedgerFilter = { readonly kinds: readonly LedgerEntry['kind'][] } & Partial<
  Pick<Schema['authority_ledger'], 'account_id' | 'host' | 'registrable_domain' | 'is_manual'>
>;
