import { afterAll, beforeAll, expect } from '@jest/globals';
import type { AuthorityFailure } from '../../../src/domains/domain/certificates/order.ts';
import {
  ownIssued,
  ownOrderStarted,
  unknownOwnName,
  type OwnName,
} from '../../../src/domains/domain/own/own-name.ts';
import {
  claimOwnOrder,
  ownSubject,
  settleOwnOrder,
} from '../../../src/domains/domain/own/own-order.ts';
import { later, now } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import { test, testOnBoth } from '../../support/store-contracts.ts';
import type { Stores } from '../../support/stores.ts';

const validity = { notBefore: later(0), notAfter: later(90 * 86_400_000) };
const authority = 'authority.test';

let hosts = 0;
/** Of a project in an account of its own, so that only the limit for all of them is met. */
const newName = () => {
  const host = `shop-${++hosts}.sites.example`;
  return { authority, accountId: `acct_${hosts}`, host, registrableDomain: 'sites.example' };
};

export const ownNamesContract = (open: () => Promise<Stores>): void => {
  let stores: Stores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores.close());

  const store = (name: OwnName) => stores.ownNames.change(name.host, () => ({ name }));

  const claim = (its = newName(), through = stores.ownNames, kind: 'own' | 'renewal' = 'own') =>
    through.changeCounted(its, now, (one, use) => {
      const { host, ...ledgerName } = its;
      const known = one ?? unknownOwnName(host, undefined);
      return claimOwnOrder(known, { generation: 0, ledgerName, kind, use }, now);
    });

  const settle = (
    its: ReturnType<typeof newName>,
    generation: number,
    failure?: AuthorityFailure,
  ) => {
    const end = failure
      ? ({ kind: 'failed', failure } as const)
      : ({ kind: 'issued', certificate: certificateFor(its.host, validity) } as const);
    const settled = { generation, end, mayIssue: [authority], ledgerName: its };
    return stores.ownNames.change(its.host, (one) => settleOwnOrder(one!, settled, now));
  };

  testOnBoth('every kind of name is read as it was written, by every process', async () => {
    const { host } = newName();
    const wanted = unknownOwnName(host, undefined);
    const ordered = ownOrderStarted(wanted, authority, now);
    const kinds = [
      ...[wanted, ordered, ownIssued(ordered, validity, now)],
      ...[{ ...ordered, failure: 'It was away.' }, unknownOwnName(host, validity)],
    ];
    for (const name of kinds) {
      await store(name);
      expect(await stores.ownNames.find(host)).toEqual(name);
      expect(await stores.secondProcess.ownNames.find(host)).toEqual(name);
      expect(await stores.ownNames.all()).toContainEqual(name);
    }
    expect(await stores.ownNames.find('other.sites.example')).toBeUndefined();
  });

  test('a decision that throws stores nothing', async () => {
    const { host } = newName();
    await expect(stores.ownNames.change(host, refuse)).rejects.toBe(refusal);
    expect(await stores.ownNames.find(host)).toBeUndefined();
  });

  testOnBoth('of many workers that begin the first order of a name, one does', async () => {
    const its = newName();
    const through = [stores.ownNames, stores.secondProcess.ownNames];
    const { won: verdicts } = await race(
      20,
      async (n) => (await claim(its, through[n % 2])).verdict,
    );
    const begun = verdicts.filter((one) => one !== 'too_late');
    expect(begun).toEqual([{ allowed: true }]);
    expect((await stores.ledger.use(its, now)).accountOrders).toHaveLength(1);
  });

  testOnBoth(
    "of projects' own hosts, 20 get a new certificate in 7 days, however many workers there are",
    async () => {
      await stores.retention.sweep('authority_ledger', later(1e13));
      const through = [stores.ownNames, stores.secondProcess.ownNames];
      const { won: verdicts } = await race(
        30,
        async (n) => (await claim(newName(), through[n % 2])).verdict,
      );
      const allowed = verdicts.filter((one) => one !== 'too_late' && one.allowed);
      expect(allowed).toHaveLength(20);
      const nextAt = later(7 * 86_400_000);
      expect(verdicts).toContainEqual({ allowed: false, reason: 'ownHosts', nextAt });
      await stores.retention.sweep('authority_ledger', later(1e13));
    },
  );

  test('a certificate, its name and the end of its order are stored together', async () => {
    const its = newName();
    const { name } = await claim(its);
    const subject = ownSubject(name);
    await stores.certificateOrders.begin({ authority, subject, host: its.host, privateKey: 'key' });
    await settle(its, name.generation);
    expect(await stores.certificateOrders.find(subject)).toBeUndefined();
    expect((await stores.certificates.validities()).get(its.host)).toEqual(validity);
    expect((await stores.ownNames.find(its.host))?.certificate).toMatchObject(validity);
  });

  test('what comes of an older order is dropped, with its certificate', async () => {
    const its = newName();
    const { name } = await claim(its);
    await store(ownOrderStarted(name, authority, later(1)));
    await settle(its, name.generation);
    expect((await stores.certificates.validities()).has(its.host)).toBe(false);
    expect((await stores.ownNames.find(its.host))?.generation).toBe(2);
  });

  test('a name that is over is deleted with its order, its key and its certificate, and edges are told', async () => {
    const its = newName();
    const { name } = await claim(its);
    await settle(its, name.generation);
    const again = ownOrderStarted((await stores.ownNames.find(its.host))!, authority, now);
    await store(again);
    const subject = ownSubject(again);
    await stores.certificateOrders.begin({ authority, subject, host: its.host, privateKey: 'key' });
    const { revision } = await stores.edgeRecords.changesSince(0n);
    const forget = (isOver: boolean) =>
      stores.ownNames.forget(its.host, now, (stored, held) => {
        expect([stored, held]).toMatchObject([again, validity]);
        return isOver;
      });
    expect(await forget(false)).toBe(false);
    expect(await stores.ownNames.find(its.host)).toEqual(again);
    expect(await forget(true)).toBe(true);
    expect(await stores.ownNames.find(its.host)).toBeUndefined();
    expect(await stores.certificateOrders.find(subject)).toBeUndefined();
    expect((await stores.certificates.validities()).has(its.host)).toBe(false);
    const { removedCertificates } = await stores.edgeRecords.changesSince(revision);
    expect(removedCertificates).toEqual([its.host]);
  });

  test('what version 1.0.0 stored of a name, its certificate alone, is deleted too', async () => {
    const { host } = newName();
    await stores.certificates.save(certificateFor(host, validity));
    const isOver = (name: OwnName | undefined) => name === undefined;
    expect(await stores.ownNames.forget(host, now, isOver)).toBe(true);
    expect((await stores.certificates.validities()).has(host)).toBe(false);
    expect(await stores.ownNames.find(host)).toBeUndefined();
  });

  test.each([
    ['that ended', 'challenge', 0],
    ['that may still bring a certificate', 'unavailable', 1],
  ] as const)('an order %s counts so: %s', async (_, reason, counted) => {
    await stores.retention.sweep('authority_ledger', later(1e13));
    const its = newName();
    const { name } = await claim(its);
    await settle(its, name.generation, { reason, detail: 'No.', retryAt: undefined });
    expect((await stores.ledger.use(its, now)).ownHosts).toHaveLength(counted);
    expect((await stores.ownNames.find(its.host))?.failure).toBe('No.');
  });
};
