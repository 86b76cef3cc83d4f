import { expect } from '@jest/globals';
import { later, now } from '../../support/accounts.ts';
import { race } from '../../support/race.ts';
import { refusal, refuse } from '../../support/refusal.ts';
import { certificateFor } from '../../support/sites/sites.ts';
import { test, testOnBoth, describeStores } from '../../support/store-contracts.ts';
import {
  freshAttempts,
  planned,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import { claimOrder } from '../../../src/domains/domain/certificates/certificate-work.ts';
import { settleOrder } from '../../../src/domains/domain/certificates/settle-order.ts';
import {
  ownAfter,
  ownSubject,
  ownTerms,
  ownWork,
  unknownOwnName,
  type OwnName,
} from '../../../src/domains/domain/own/own-name.ts';

const validity = { notBefore: later(0), notAfter: later(90 * 86_400_000) };
const authority = 'authority.test';

let hosts = 0;
/** A name in an account of its own, so that only the limit for all accounts applies. */
const newName = () => {
  const host = `shop-${++hosts}.sites.example`;
  return { authority, accountId: `acct_${hosts}`, host, registrableDomain: 'sites.example' };
};

type Its = ReturnType<typeof newName>;

const termsOf = ({ host, accountId, registrableDomain }: Its) =>
  ownTerms({
    host,
    payer: { accountId, registrableDomain },
    kinds: { first: 'own', later: 'own_renewal', counted: 'own_counted' },
  });

const order = (name: OwnName, at: Date): OwnName => {
  const attempts = { ...freshAttempts(at), failed: 2 };
  const work = { step: 'ordered', authority, method: 'http-01', since: at, at, attempts } as const;
  return {
    ...name,
    generation: name.generation + 1,
    certificate: { ...name.certificate, work: { ...work, problem: undefined } },
  };
};

const issued = (name: OwnName): OwnName => {
  const how = { issuedBy: authority, hasWindow: true, askRenewalAt: later(1) };
  const work = planned(later(2));
  return { ...name, certificate: { kind: 'issued', ...validity, work, ...how } };
};

describeStores("the platform's own names", (stores) => {
  const store = (name: OwnName) => stores.ownNames.change(name.host, () => ({ name }));

  const claim = (its = newName(), through = stores.ownNames) =>
    through.changeCounted(its, now, (one = unknownOwnName(its.host), use) => {
      const known = ownWork(unknownOwnName(its.host), termsOf(its), [authority]);
      const work = ownWork(one, known.terms, [authority]);
      const change = claimOrder(work, { known, authority, kind: 'own', use }, now);
      return ownAfter(one, change);
    });

  const settle = (its: Its, order: OwnName) => {
    const result = { kind: 'issued', certificate: certificateFor(its.host, validity) } as const;
    const ordered = ownWork(order, termsOf(its), [authority]);
    return stores.ownNames.change(its.host, (one) => {
      const work = one && ownWork(one, ordered.terms, [authority]);
      return ownAfter(one!, settleOrder(work, { ordered, result, issuers: [] }, now));
    });
  };

  testOnBoth('every kind of name is read back unchanged by every process', async () => {
    const { host } = newName();
    const wanted = unknownOwnName(host);
    const ordered = order(wanted, now);
    const kinds = [wanted, ordered, issued(wanted), order(issued(wanted), now)];
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

  testOnBoth('when many workers begin the first order of a name, one succeeds', async () => {
    const its = newName();
    const through = [stores.ownNames, stores.secondProcess.ownNames];
    const { won } = await race(20, (n) => claim(its, through[n % 2]));
    expect(won.filter(({ outcome }) => outcome.kind === 'begun')).toHaveLength(1);
    expect((await stores.ledger.use(its, now)).accountOrders).toHaveLength(1);
  });

  testOnBoth(
    "projects' own hosts get at most 20 new certificates in 7 days, however many workers there are",
    async () => {
      await stores.retention.sweep('authority_ledger', later(1e13));
      const through = [stores.ownNames, stores.secondProcess.ownNames];
      const { won } = await race(30, (n) => claim(newName(), through[n % 2]));
      expect(won.filter(({ outcome }) => outcome.kind === 'begun')).toHaveLength(20);
      const hold = { reason: 'ownHosts', nextAt: later(7 * 86_400_000) };
      expect(won).toContainEqual(
        expect.objectContaining({
          outcome: expect.objectContaining({
            hold: expect.objectContaining(hold) as unknown,
          }) as unknown,
        }),
      );
      await stores.retention.sweep('authority_ledger', later(1e13));
    },
  );

  test('a certificate, its name and the end of its order are stored together', async () => {
    const its = newName();
    const { name } = await claim(its);
    const subject = ownSubject(name);
    await stores.certificateOrders.begin({ authority, subject, host: its.host, privateKey: 'key' });
    await settle(its, name);
    expect(await stores.certificateOrders.find(subject)).toBeUndefined();
    expect(await stores.certificates.find(its.host)).toBeDefined();
    expect((await stores.ownNames.find(its.host))?.certificate).toMatchObject(validity);
  });

  test('the result of an older order is dropped, with its certificate', async () => {
    const its = newName();
    const { name } = await claim(its);
    await store(order(name, later(1)));
    await settle(its, name);
    expect(await stores.certificates.find(its.host)).toBeUndefined();
    expect((await stores.ownNames.find(its.host))?.generation).toBe(2);
  });

  test('a name that is no longer needed is deleted with its order, key and certificate, and edges stop serving it', async () => {
    const its = newName();
    const { name } = await claim(its);
    await settle(its, name);
    const again = order((await stores.ownNames.find(its.host))!, now);
    await store(again);
    const subject = ownSubject(again);
    await stores.certificateOrders.begin({ authority, subject, host: its.host, privateKey: 'key' });
    const { revision } = await stores.edgeRecords.changesSince(0n);
    const forget = (isOver: boolean) =>
      stores.ownNames.forget(its.host, now, (stored) => {
        expect(stored).toEqual(again);
        return isOver;
      });
    expect(await forget(false)).toBe(false);
    expect(await stores.ownNames.find(its.host)).toEqual(again);
    expect(await forget(true)).toBe(true);
    expect(await stores.ownNames.find(its.host)).toBeUndefined();
    expect(await stores.certificateOrders.find(subject)).toBeUndefined();
    expect(await stores.certificates.find(its.host)).toBeUndefined();
    const { removedCertificates } = await stores.edgeRecords.changesSince(revision);
    expect(removedCertificates).toEqual([its.host]);
  });
});
