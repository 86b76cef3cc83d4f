import { beforeEach, expect, test } from '@jest/globals';
import { UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { orderSubject } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import {
  KyselyAuthorityAccounts,
  KyselyCertificateOrders,
} from '../../../src/adapters/kysely/sites/kysely-certificate-orders.ts';
import {
  liveDomain,
  newHost,
  remove,
  servedProject,
} from '../../support/domains/custom-domains.ts';
import { race } from '../../support/race.ts';
import { describeStores, testOnBoth, describeDatabases } from '../../support/store-contracts.ts';
import { testSealer } from '../../support/stores.ts';
import { usualKinds } from '../../support/servers/databases.ts';
import { certificateFor } from '../../support/sites/sites.ts';

const ids = new UuidIds();
const authority = 'authority.test';

describeStores('orders of certificates', (stores) => {
  const { certificateOrders: orders } = stores;
  let host: string;
  let subject: string;
  beforeEach(() => {
    host = newHost();
    subject = `platform:${host}`;
  });

  const processes = () => [orders, stores.secondProcess.certificateOrders] as const;
  const process = (n: number) => processes()[n % 2] ?? orders;
  const begin = async (draft: { subject?: string; host?: string } = {}, through = orders) => {
    const kept = await through.begin({
      authority,
      subject,
      host,
      privateKey: ids.next('key'),
      ...draft,
    });
    if (!kept) throw new Error('it was not begun');
    return kept;
  };

  testOnBoth('each process reads an order as it was begun and placed', async () => {
    host = `${'a'.repeat(63)}.`.repeat(4).slice(0, 253);
    subject = `domain:${ids.next('dom')}:${host}`;
    const privateKey = `${'+/='.repeat(2000)}\n`;
    const begun = await orders.begin({ authority, subject, host, privateKey });
    expect(begun).toEqual({ authority, subject, host, privateKey, url: undefined });
    for (const reader of processes()) expect(await reader.find(subject)).toEqual(begun);

    const url = `https://ca.test/order/${'x'.repeat(900)}`;
    expect(await orders.placed(subject, url)).toEqual({ ...begun, url });
    for (const reader of processes()) expect(await reader.find(subject)).toEqual({ ...begun, url });
  });

  testOnBoth('when twenty begin one order at once, all continue with the same key', async () => {
    const { won, lost } = await race(20, (n) => begin({}, process(n)));
    expect(lost).toEqual([]);
    const kept = await orders.find(subject);
    expect(won).toEqual(Array(20).fill(kept));
    expect(await begin()).toEqual(kept);
  });

  testOnBoth('when twenty place one order at once, all continue with the same URL', async () => {
    const begun = await begin();
    const { won, lost } = await race(20, (n) => process(n).placed(subject, `https://ca.test/${n}`));
    expect(lost).toEqual([]);
    const kept = await orders.find(subject);
    expect(kept).toEqual({ ...begun, url: expect.stringMatching(/^https:\/\/ca\.test\/\d+$/) });
    expect(won).toEqual(Array(20).fill(kept));
    expect(await begin()).toEqual(kept);
  });

  test('each process answers a challenge, for its own host and token only', async () => {
    const token = `T_-${'x'.repeat(252)}`;
    const keyAuthorization = `${token}.${'y'.repeat(700)}`;
    await begin();
    await begin({ subject: 'platform:neighbour', host: newHost() });
    expect(await orders.answer(host, token)).toBeUndefined();
    await orders.publish(subject, { token, keyAuthorization });
    for (const reader of processes())
      expect(await reader.answer(host, token)).toBe(keyAuthorization);
    expect(await orders.answer(newHost(), token)).toBeUndefined();
    for (const other of ['', 'T_-', token.toLowerCase()])
      expect(await orders.answer(host, other)).toBeUndefined();
  });

  test('two hosts with the same token each have their own answer', async () => {
    const rival = { subject: `${subject}:rival`, host: newHost() };
    for (const draft of [{ subject, host }, rival]) {
      await begin(draft);
      await orders.publish(draft.subject, { token: 't1', keyAuthorization: draft.host });
    }
    for (const name of [host, rival.host]) expect(await orders.answer(name, 't1')).toBe(name);
  });

  testOnBoth(
    'a newer challenge replaces the previous one and leaves the order unchanged',
    async () => {
      await begin();
      const placed = await orders.placed(subject, 'https://ca.test/1');
      for (const token of ['old', 'new'])
        await orders.publish(subject, { token, keyAuthorization: `its ${token}` });
      expect(await orders.answer(host, 'old')).toBeUndefined();
      expect(await orders.answer(host, 'new')).toBe('its new');
      expect(await orders.find(subject)).toEqual(placed);
    },
  );

  test('forgetting an order removes its challenge and key, and can be repeated', async () => {
    const { privateKey } = await begin();
    const neighbour = await begin({ subject: `${subject}:2` });
    for (const kept of [subject, neighbour.subject])
      await orders.publish(kept, { token: kept, keyAuthorization: 'yes' });
    for (const from of processes()) await from.forget(subject);
    expect(await orders.find(subject)).toBeUndefined();
    expect(await orders.answer(host, subject)).toBeUndefined();
    expect(await orders.find(neighbour.subject)).toEqual(neighbour);
    expect(await orders.answer(host, neighbour.subject)).toBe('yes');
    const again = await begin();
    expect(again.url).toBeUndefined();
    expect(again.privateKey).not.toBe(privateKey);
    expect(await orders.answer(host, subject)).toBeUndefined();
  });

  test('a removed domain loses its orders and begins no new ones', async () => {
    const domain = await liveDomain(stores, await servedProject(stores));
    const draft = { authority, subject: orderSubject(domain), host: domain.host };
    await begin(draft);
    await stores.domains.change(domain.id, remove);
    expect(await orders.find(draft.subject)).toBeUndefined();
    for (const late of processes()) {
      expect(await late.begin({ ...draft, privateKey: ids.next('key') })).toBeUndefined();
      expect(await late.find(draft.subject)).toBeUndefined();
    }
  });

  testOnBoth('an order that begins while its domain is removed leaves nothing behind', async () => {
    const project = await servedProject(stores);
    for (let round = 0; round < 10; round++) {
      const domain = await liveDomain(stores, project);
      const draft = {
        authority,
        subject: orderSubject(domain),
        host: domain.host,
        privateKey: 'key',
      };
      // If the order began first, the removal may delete it before it is read back.
      await Promise.allSettled([
        stores.domains.change(domain.id, remove),
        stores.secondProcess.certificateOrders.begin(draft),
      ]);
      expect(await orders.find(draft.subject)).toBeUndefined();
    }
  });

  test('an order that is forgotten or never begun cannot be continued', async () => {
    const challenge = { token: 't1', keyAuthorization: 'yes' };
    expect(await orders.find(subject)).toBeUndefined();
    for (const goOn of [
      () => orders.placed(subject, 'https://ca.test/1'),
      () => orders.publish(subject, challenge),
    ]) {
      await expect(goOn()).rejects.toThrow('forgotten');
    }
    expect(await orders.find(subject)).toBeUndefined();
    expect(await orders.answer(host, 't1')).toBeUndefined();
  });
});

describeDatabases('private keys of orders and accounts', usualKinds, (database) => {
  const tables = ['certificate_orders', 'authority_accounts'] as const;
  const { privateKey } = certificateFor('cats.example');
  const keeps = (sealer = testSealer) => ({
    orders: new KyselyCertificateOrders(database, sealer),
    accounts: new KyselyAuthorityAccounts(database, sealer),
  });
  const saveTwoEach = async () => {
    const { orders, accounts } = keeps();
    for (const name of ['cats', 'dogs']) {
      await orders.begin({ authority: '', subject: name, host: `${name}.example`, privateKey });
      await accounts.save(name, { url: `https://ca.test/${name}`, privateKey });
    }
  };
  const stored = async (table: (typeof tables)[number]) =>
    database.root.selectFrom(table).selectAll().execute();

  test('private keys are stored sealed, with no part in plain text', async () => {
    await saveTwoEach();
    for (const table of tables) {
      const everything = (await stored(table)).flatMap((row) => Object.values(row).map(String));
      expect(everything).toEqual(expect.arrayContaining(['cats', 'dogs']));
      for (const line of privateKey.trim().split('\n'))
        expect(everything.join('\n')).not.toContain(line);
    }
  });

  test('private keys open only for the row that they were sealed for', async () => {
    await saveTwoEach();
    for (const table of tables) {
      const [first] = await stored(table);
      await database.root
        .updateTable(table)
        .set({ private_key: first?.private_key ?? '' })
        .execute();
    }
    const { orders, accounts } = keeps();
    expect(await orders.find('cats')).toHaveProperty('privateKey', privateKey);
    expect(await accounts.find('cats')).toHaveProperty('privateKey', privateKey);
    await expect(orders.find('dogs')).rejects.toThrow('order of dogs');
    await expect(accounts.find('dogs')).rejects.toThrow('account at dogs');
  });
});
