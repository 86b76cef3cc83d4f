import {
  KyselyAuthorityAccounts,
  KyselyCertificateOrders,
} from '../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import { dueMessage, mailRow } from '../../src/adapters/kysely/notifications/mail-rows.ts';
import { KyselyEdgeRecords } from '../../src/adapters/kysely/sites/kysely-edge-records.ts';
import {
  openedSecrets,
  sealedSecrets,
  webhookRow,
} from '../../src/adapters/kysely/notifications/kysely-webhooks.ts';
import type { Database } from '../../src/adapters/kysely/database.ts';
import { openColumns, sealedColumns } from '../../src/adapters/kysely/sealed-values.ts';
import { firstSecret } from '../../src/notifications/domain/webhook.ts';
import type { Sealer } from '../../src/kernel/ports.ts';
import { webhookDecision } from './webhooks/stored-webhook.ts';

const directoryUrl = 'https://acme.example/directory';
const padded = (at: number): string => String(at).padStart(6, '0');
const hostAt = (at: number): string => `site-${padded(at)}.example`;
const secretOf = (host: string): string => `private key of ${host}`;

const noOthers = { passkeys: '[]', recovery: '[]' };

const waitingMail = {
  mail: {
    id: 'evt_1:pers_1',
    accountId: 'acct_hooks',
    personId: 'pers_1',
    to: 'ada@hooks.test',
    kind: 'deploy.failed',
    about: { project: 'birds', number: 7, explanation: secretOf('the mail') },
    occurredAt: new Date(0),
  },
  planned: { message: 'evt_1:pers_1', sendAt: new Date(0) },
  now: new Date(0),
} as const;

export const sealedBesides = 5;

/** Adds this many certificates, and a sealed value in each other table that has one, as a service seals them. */
export const fillSealed = async (
  { root }: Database,
  sealer: Sealer,
  hosts: number,
): Promise<void> => {
  const times = { chain: 'chain', not_before: 0n, not_after: 8_000_000_000_000n };
  const rows = Array.from({ length: hosts }, (_, at) => ({
    host: hostAt(at),
    ...times,
    ...sealedColumns(sealer, 'certificates', { key: hostAt(at), secret: secretOf(hostAt(at)) }),
    revision: BigInt(at + 1),
  }));
  await root.transaction().execute(async (db) => {
    for (let at = 0; at < rows.length; at += 500) {
      await db
        .insertInto('certificates')
        .values(rows.slice(at, at + 500))
        .execute();
    }
    await db
      .updateTable('edge_revision')
      .set({ revision: BigInt(hosts) })
      .execute();
    const order = sealedColumns(sealer, 'certificate_orders', {
      key: 'site:shop',
      secret: secretOf('the order'),
    });
    const kept = { subject: 'site:shop', authority: 'acme.example', host: 'shop.example' };
    await db
      .insertInto('certificate_orders')
      .values({ ...kept, ...order })
      .execute();
    const account = sealedColumns(sealer, 'authority_accounts', {
      key: directoryUrl,
      secret: secretOf('account'),
    });
    const its = { directory_url: directoryUrl, url: 'https://acme.example/1', ...account };
    await db.insertInto('authority_accounts').values(its).execute();
    const { state: webhook } = webhookDecision('acct_hooks');
    const owner = {
      id: 'acct_hooks',
      name: 'Hooks',
      email: 'ada@hooks.test',
      plan: 'pro',
      warnings: JSON.stringify({ removals: [] }),
    };
    await db
      .insertInto('accounts')
      .values({ ...owner, created_at: 0n })
      .execute();
    const secrets = sealedSecrets(sealer, webhook.id, firstSecret(secretOf('the webhook')));
    await db
      .insertInto('webhooks')
      .values({ ...webhookRow(webhook), ...secrets })
      .execute();
    const person = {
      id: 'pers_1',
      account_id: 'acct_hooks',
      email: 'ada@hooks.test',
      role: 'owner',
    };
    await db
      .insertInto('people')
      .values({ ...person, created_at: 0n, password_hash: null, joined_at: null })
      .execute();
    await db.insertInto('mails').values(mailRow(sealer, waitingMail)).execute();
    const app = { key: person.id, secret: secretOf('the app') };
    const factor = { person_id: person.id, app_since: 0n, last_step: 0n, challenged_until: 0n };
    await db
      .insertInto('second_factors')
      .values({ ...factor, ...noOthers, ...sealedColumns(sealer, 'second_factors', app) })
      .execute();
  });
};

/**
 * The number of sealed values that a process with these keys opens unchanged.
 * @throws Error for the first that does not open
 */
export const openedBy = async (database: Database, sealer: Sealer): Promise<number> => {
  const { certificates } = await new KyselyEdgeRecords(database, sealer).changesSince(0n);
  const right = certificates.filter(({ host, privateKey }) => privateKey() === secretOf(host));
  const order = await new KyselyCertificateOrders(database, sealer).find('site:shop');
  const account = await new KyselyAuthorityAccounts(database, sealer).find(directoryUrl);
  const webhook = await database.root.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow();
  const [secret] = openedSecrets(sealer, webhook);
  const mail = await database.root.selectFrom('mails').selectAll().executeTakeFirstOrThrow();
  const [told] = dueMessage(sealer, mail, []).tells();
  const factor = await database.root
    .selectFrom('second_factors')
    .selectAll()
    .executeTakeFirstOrThrow();
  return (
    right.length +
    Number(openColumns(sealer, 'second_factors', factor) === secretOf('the app')) +
    Number(secret?.secret === secretOf('the webhook')) +
    Number(JSON.stringify(told?.about).includes(secretOf('the mail'))) +
    Number(order?.privateKey === secretOf('the order')) +
    Number(account?.privateKey === secretOf('account'))
  );
};
