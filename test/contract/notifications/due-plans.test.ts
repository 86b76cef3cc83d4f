import { describe, expect, test } from '@jest/globals';
import { KyselyMails } from '../../../src/adapters/kysely/notifications/kysely-mails.ts';
import {
  KyselyWebhookDeliveries,
  countWebhooks,
} from '../../../src/adapters/kysely/notifications/kysely-webhook-deliveries.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { later } from '../../support/accounts.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { explainedDatabase, type ManyRows } from '../../support/servers/query-plans.ts';
import { mustNotBeUsed } from '../../support/strict-fake.ts';
import { testSealer } from '../../support/stores.ts';
import { allDue } from '../../support/webhooks/stored-webhook.ts';

const numbers = Array.from({ length: 5000 }, (_, n) => n);

/** 99 of 100 deliveries have ended. */
const deliveries: ManyRows = {
  table: 'webhook_deliveries',
  columns: [
    ...['id', 'webhook_id', 'account_id', 'message_id', 'type', 'body', 'added_at', 'begun_at'],
    ...['failures', 'state', 'next_at', 'receiver', 'is_slow', 'claim'],
  ],
  rows: numbers.map((n) => [
    ...[`whd_${n}`, `hook_${n % 50}`, `acct_${n % 20}`, `evt_${n}`, 'key.banned', '{}', n, n, 0],
    ...(n % 100 === 0 ? ['waiting', 1_000_000 + n] : ['delivered', null]),
    ...[`${n % 50}.example`, n % 2, null],
  ]),
};

/** Mails of two kinds, sent long ago. */
const mails: ManyRows = {
  table: 'mails',
  columns: [
    ...['id', 'account_id', 'person_id', 'address', 'kind', 'occurred_at', 'message', 'send_at'],
    ...['attempts', 'ended_at', 'ending', 'subject', 'until'],
  ],
  rows: numbers.map((n) => [
    ...[`mail_${n}`, `acct_${n % 50}`, `pers_${n % 100}`, 'keeper@zoo.example', 'key.banned'],
    ...[n, `mail_${n}`, n, 0, n, 'sent', n % 2 === 0 ? null : `key_${n}`, n],
  ]),
};

describe.each(databaseKinds)('with thousands of deliveries and mails, on %s', (kind) => {
  const explained = explainedDatabase(kind, [deliveries, mails]);

  /** How each statement has read the table since the test began. */
  const reads = async (table: string): Promise<readonly string[]> =>
    (await explained.steps()).filter((step) => step.includes(table));

  test('a search for due deliveries reads only an index range, even when it leaves out busy webhooks', async () => {
    const needs = { sealer: testSealer, ids: new UuidIds() };
    const all = new KyselyWebhookDeliveries(explained.database, mustNotBeUsed('outbox'), needs);
    for (const ids of [[], ['one', 'two']]) {
      const receivers = ids.map((id) => ({ accountId: id, receiver: id }));
      const except = { webhooks: ids, accounts: ids, receivers };
      await all.claim(new Date(500), later(0), { ...allDue, except });
    }
    expect(await all.nextDueAt()).toEqual(new Date(1_000_000));
    const steps = await reads('webhook_deliveries');
    expect(steps).toHaveLength(4);
    for (const step of steps) expect(step).toMatch(/^(?!SCAN).*\bwebhook_deliveries_due\b/);
  });

  test('counting waiting deliveries and mails reads only an index range', async () => {
    expect(await countWebhooks(explained.database.root, later(0))).toMatchObject({ waiting: 50 });
    const steps = await reads('webhook_deliveries');
    expect(steps).toHaveLength(2);
    for (const step of steps) expect(step).toMatch(/^(?!SCAN).*\bwebhook_deliveries_due\b/);
  });

  test('a search for due mail reads only an index range', async () => {
    const ports = { sealer: testSealer, ids: new UuidIds(), onAdded: () => undefined };
    const all = new KyselyMails(explained.database, ports);
    await all.claim(later(0), later(1), { limit: 4 });
    await all.nextDueAt();
    const steps = await reads('mails');
    expect(steps).toHaveLength(3);
    for (const step of steps) {
      expect(step).toMatch(/^(?!SCAN).*\b(?:mails_due|mails_due_by_subject)\b/);
    }
  });
});
