import { beforeEach, expect, test } from '@jest/globals';
import { KyselyMails } from '../../../src/adapters/kysely/notifications/kysely-mails.ts';
import {
  keyUses,
  type LeftValue,
  SealedValues,
} from '../../../src/adapters/kysely/sealed-values.ts';
import { AesGcmSealer } from '../../../src/adapters/system/secrets.ts';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { databaseKinds } from '../../support/servers/databases.ts';
import { fillSealed, openedBy, sealedBesides } from '../../support/sealed-rows.ts';
import { describeDatabases } from '../../support/store-contracts.ts';

const [oldKey, newKey] = [Buffer.from('the key until now'), Buffer.from('the key from now on')];
const before = new AesGcmSealer(oldKey);
const during = new AesGcmSealer(newKey, [oldKey]);
const after = new AesGcmSealer(newKey);
const hosts = 250;
const all = hosts + sealedBesides;
const everyTable = {
  authority_accounts: true,
  certificate_orders: true,
  certificates: true,
  mails: true,
  second_factors: true,
  webhooks: true,
} satisfies Record<LeftValue['table'], true>;

describeDatabases('sealed values', databaseKinds, (database) => {
  beforeEach(async () => {
    await fillSealed(database, before, hosts);
  });

  const reseal = async (sealer = during) => {
    const slices: number[] = [];
    const left = await new SealedValues(database, sealer).reseal((count) => slices.push(count));
    return { slices, left, resealed: slices.reduce((sum, one) => sum + one, 0) };
  };
  const uses = () => keyUses(database);

  test('can be read before, during and after a rotation, and are encrypted again only once', async () => {
    expect(await openedBy(database, during)).toBe(all);
    expect(await reseal()).toMatchObject({ resealed: all, left: [] });
    expect(await openedBy(database, after)).toBe(all);
    expect(await uses()).toEqual([{ keyId: after.keyIds[0], values: all }]);
    expect(await reseal()).toEqual({ slices: [], left: [], resealed: 0 });
    await expect(openedBy(database, before)).rejects.toThrow(
      'Give that key as SECRET_KEY_PREVIOUS',
    );
  });

  test('are encrypted again in slices, so that other work does not wait long', async () => {
    const { slices } = await reseal();
    expect(Math.max(...slices)).toBeLessThanOrEqual(100);
  });

  test('stay readable when encrypting them again is interrupted, and the work resumes where it stopped', async () => {
    const cut = new SealedValues(database, during).reseal(() => {
      throw new Error('killed');
    });
    await expect(cut).rejects.toThrow('killed');
    expect(await openedBy(database, during)).toBe(all);
    const { resealed, left } = await reseal();
    expect([resealed, left]).toEqual([all - 100, []]);
    expect(await openedBy(database, after)).toBe(all);
  });

  test('can be read even when they carry the id of another key', async () => {
    await database.root
      .updateTable('authority_accounts')
      .set({ sealed_by: after.keyIds[0] })
      .execute();
    expect(await openedBy(database, during)).toBe(all);
  });

  test('stay unchanged when their key is missing, and the error names each value with its key', async () => {
    const { resealed, left } = await reseal(after);
    expect(resealed).toBe(0);
    expect(left).toHaveLength(all);
    expect(new Set(left.map(({ table }) => table))).toEqual(new Set(Object.keys(everyTable)));
    for (const { reason } of left) {
      expect(reason).toContain(`another secret key, with the id ${before.keyIds[0]}`);
      expect(reason).not.toContain('private key of');
    }
    expect(await openedBy(database, before)).toBe(all);
  });

  test.each(['sent', 'given up'])('of a mail are deleted once it is %s', async (end) => {
    const ports = { sealer: before, ids: new UuidIds(), onAdded: () => undefined };
    const mails = new KyselyMails(database, ports);
    const now = new Date(0);
    const message = { id: 'evt_1:pers_1', claim: 'claim_1' };
    await database.root.updateTable('mails').set({ claim: message.claim }).execute();
    await (end === 'sent'
      ? mails.sent(message, now)
      : mails.giveUp(message, now, { kind: 'late', reason: 'no such user' }));
    expect(await uses()).toEqual([{ keyId: before.keyIds[0], values: all - 1 }]);
  });

  test('that are replaced during a rotation are not overwritten', async () => {
    const [host, newer] = ['site-000000.example', 'newer'];
    const values = new SealedValues(database, during);
    const working = values.reseal(() => undefined);
    await database.root
      .updateTable('certificates')
      .set({ private_key: newer, sealed_by: after.keyIds[0] })
      .where('host', '=', host)
      .execute();
    await working;
    const row = await database.root
      .selectFrom('certificates')
      .select('private_key')
      .where('host', '=', host)
      .executeTakeFirst();
    expect(row?.private_key).toBe(newer);
  });
});
