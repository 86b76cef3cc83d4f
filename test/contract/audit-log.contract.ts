import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { AuditLog } from '../../src/access/ports.ts';
import { UuidIds } from '../../src/adapters/system/uuid-ids.ts';
import type { StoredEvent } from '../../src/kernel/domain-event.ts';
import { later } from '../support/accounts.ts';
import { race } from '../support/race.ts';
import { scribble } from '../support/scribble.ts';
import type { Stores } from '../support/stores.ts';

const ids = new UuidIds();

export const auditLogContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  let auditLog: AuditLog;
  let account: string;
  beforeAll(async () => {
    stores = await open();
    auditLog = stores.auditLog;
  });
  afterAll(() => stores.close());
  beforeEach(() => {
    account = ids.next('acct');
  });

  const happened = (type: string, occurredAt: Date, details = {}): StoredEvent => ({
    id: ids.next('evt'),
    event: { type, accountId: account, occurredAt, ...details },
  });
  const entry = ({ id, event }: StoredEvent, details = {}) => {
    const { type: what, accountId, occurredAt } = event;
    return { id, accountId, what, occurredAt, details };
  };

  test('an entry says what happened, when, and to which things', async () => {
    const details = { petId: '9223372036854775807', slug: 'zoë’s "birds" 🐦', perDay: 1e9 };
    const stored = happened('pet_sold', later(0.5), details);
    await auditLog.record(stored);
    expect(await auditLog.list(account, 10)).toEqual([entry(stored, details)]);
  });

  test('recording the same event again leaves one entry', async () => {
    const stored = happened('plan_changed', later(0));
    const logs = [auditLog, stores.secondProcess.auditLog];
    const { won } = await race(20, (n) => (logs[n % 2] ?? auditLog).record(stored));
    expect(won).toHaveLength(20);
    expect(await auditLog.list(account, 10)).toEqual([entry(stored)]);
  });

  test('the newest entries come first, those of one moment in the order of their ids', async () => {
    const [a, b] = [happened('first_of_two', later(5)), happened('second_of_two', later(5))];
    const [old, young] = [happened('old', later(1)), happened('young', later(9))];
    for (const stored of [b, young, old, a]) await auditLog.record(stored);
    const expected = [young, b, a, old].map((stored) => entry(stored));
    expect(await auditLog.list(account, 10)).toEqual(expected);
    expect(await auditLog.list(account, 2)).toEqual(expected.slice(0, 2));
  });

  test("another account's entries are not listed", async () => {
    await auditLog.record(happened('pet_sold', later(0)));
    expect(await auditLog.list(ids.next('acct'), 10)).toEqual([]);
    expect(await auditLog.list(account.toUpperCase(), 10)).toEqual([]);
  });

  test('callers cannot reach into storage through what they gave or got', async () => {
    const stored = happened('pet_sold', later(0), { petId: '1' });
    const kept = entry(structuredClone(stored), { petId: '1' });
    await auditLog.record(stored);
    scribble(stored);
    scribble(await auditLog.list(kept.accountId, 10));
    expect(await auditLog.list(kept.accountId, 10)).toEqual([kept]);
  });
};
