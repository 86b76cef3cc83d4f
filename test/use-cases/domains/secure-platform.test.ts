import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ScriptedAuthority } from '../../support/domains/scripted-authority.ts';
import type { ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { isPreview } from '../../../src/domains/domain/redirects/redirects.ts';
import { caBudgets } from '../../../src/domains/domain/certificates/ca-budget.ts';
import type { DomainPorts } from '../../../src/domains/ports.ts';
import { checkPlatform } from '../../../src/domains/use-cases/check-platform.ts';
import { countDomains } from '../../../src/domains/use-cases/count-domains.ts';
import { planRenewals } from '../../../src/domains/use-cases/plan-renewals.ts';
import {
  forgetOwnNames,
  secureSites,
  showOwnHold,
} from '../../../src/domains/use-cases/secure-sites.ts';
import { servedProject } from '../../support/domains/custom-domains.ts';
import { around, closeLabs, domainLab, type DomainLab } from '../../support/domains/domain-lab.ts';
import { facts, records } from '../../support/domains/known-dns.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

const zone = 'acme.shop.test';
const wildcard = '*.sites.test';

let lab: DomainLab;
beforeEach(async () => {
  lab = await domainLab(zone);
});

/** Sets the platform's record, or other facts about its name. */
const delegate = (more: Partial<ResolverFacts> = {}): void => {
  lab.dns.tell('sites.test', facts({ delegation: records(`platform.${zone}`), ...more }));
  lab.delegatePlatform();
};

const undelegated = (): void => lab.dns.tell('sites.test', facts({ delegation: { kind: 'none' } }));

const secure = (ports: Partial<DomainPorts> = {}) => secureSites({ ...lab.ports, ...ports })();
const own = () => `${lab.project.slug}.sites.test`;
const pair = async () => (await lab.ports.ownNames.find(wildcard))!;
const ordersOf = (host: string, authority = lab.authority) =>
  authority.log.filter((step) => step === `order ${host}`).length;

/** An authority that expects orders for these hosts. */
const secondAuthority = (hosts: readonly string[]) =>
  new ScriptedAuthority({
    clock: lab.clock,
    name: 'second.test',
    expects: (name) => hosts.includes(name),
    visit: (name, token) => lab.ports.orders.answer(name, token),
    texts: () => lab.platformTexts(),
  });

describe("if the platform's challenge name is delegated", () => {
  test('the platform gets one certificate, and the hosts of projects get none', async () => {
    delegate();
    expect(await secure()).toBe(1);
    expect((await lab.ports.ownNames.all()).map(({ host }) => host)).toEqual([wildcard]);
    expect(lab.authority.also).toEqual([['sites.test']]);
    await servedProject(lab.stores);
    expect(await secure()).toBe(0);
    expect(ordersOf(own())).toBe(0);
  });

  test("the platform's certificate is renewed when the authority says so, and that order uses no budget", async () => {
    delegate();
    await secure();
    lab.clock.advance(day);
    const { chain } = (await lab.ports.certificates.find(wildcard))!;
    const window = {
      start: after(2 * day),
      end: after(2 * day + hour),
      askAgainAt: after(9 * day),
    };
    lab.authority.suggestRenewal(chain, window);
    expect((await planRenewals(lab.ports)()).planned).toBe(1);
    expect(await secure()).toBe(0);
    lab.clock.advance(2 * day);
    expect(await secure()).toBe(1);
    expect(lab.authority.replaced).toEqual([undefined, chain]);
    expect(await lab.ports.ledger.orders('authority.test', lab.clock.now())).toEqual([]);
  });

  test('the authority is asked again at its own time, and never about a host that needs no certificate', async () => {
    undelegated();
    await secure();
    delegate();
    await secure();
    lab.clock.advance(day);
    const asked: string[] = [];
    const authority = Object.assign(Object.create(lab.authority) as typeof lab.authority, {
      renewalWindow: (chain: string) => Promise.resolve(void asked.push(chain)),
    });
    const { chain } = (await lab.ports.certificates.find(wildcard))!;
    for (let runs = 0; runs < 2; runs++) await planRenewals({ ...lab.ports, authority })();
    expect(asked).toEqual([chain]);
  });

  test('certificates that hosts no longer need are not counted', async () => {
    undelegated();
    await secure();
    delegate();
    await secure();
    lab.clock.advance(70 * day);
    const counted = async (ports: Partial<DomainPorts> = {}) => {
      const { certificates } = await countDomains({ ...lab.ports, ...ports })();
      return certificates
        .filter(({ count }) => count > 0)
        .map(({ state, count }) => [state, count]);
    };
    expect(await counted()).toEqual([['due', 1]]);
    expect(await counted({ hasPlatformFiles: true })).toEqual([]);
  });

  test("hosts wait for the platform's certificate until it has failed, and then get their own", async () => {
    delegate();
    lab.authority.failNext('look', { reason: 'challenge' });
    expect(await secure()).toBe(1);
    expect([ordersOf(wildcard), ordersOf(own())]).toEqual([1, 1]);
    expect((await checkPlatform(lab.ports)()).failure?.detail).toBe('It is challenge.');
    lab.clock.advance(minute);
    expect(await secure()).toBe(1);
    expect((await checkPlatform(lab.ports)()).failure).toBeUndefined();
  });

  test('an order under way continues when the record is gone', async () => {
    delegate();
    lab.authority.failNext('look', { reason: 'unavailable' });
    await secure();
    undelegated();
    lab.clock.advance(minute);
    expect(await secure()).toBe(1);
    expect(ordersOf(wildcard)).toBe(1);
  });

  test('an authority is not told that its order replaces a certificate of another one', async () => {
    delegate();
    await secure();
    await lab.ports.ownNames.change(wildcard, (name) => {
      const { certificate } = name!;
      if (certificate.kind !== 'issued') throw new Error('there is none');
      const elsewhere = { ...certificate, hasWindow: true, issuedBy: 'elsewhere.test' };
      return { name: { ...name!, certificate: elsewhere } };
    });
    lab.clock.advance(61 * day);
    await secure();
    expect(lab.authority.replaced).toEqual([undefined, undefined]);
  });

  test.each([
    ['all of its names', 'issue', 'other.test'],
    ['its wildcard', 'issuewild', ';'],
  ])('nothing is ordered for %s while CAA forbids it', async (_, tag, value) => {
    const caa = [{ name: 'sites.test', answer: records({ flags: 0, tag, value }) }];
    delegate({ caa });
    await secure();
    expect(ordersOf(wildcard)).toBe(0);
    expect(await checkPlatform(lab.ports)()).toMatchObject({
      delegation: 'right',
      forbiddenBy: expect.stringContaining(`${tag} `) as unknown,
      certificate: undefined,
    });
  });

  test('an unrenewed certificate is near its end with a fifth of its lifetime left, and is not relied on with a twentieth left', async () => {
    delegate();
    await secure();
    const { notAfter } = (await checkPlatform(lab.ports)()).certificate!;
    for (const [days, ending, isEnough] of [
      [19, 'far', true],
      [17, 'near', true],
      [4, 'urgent', false],
    ] as const) {
      lab.clock.set(new Date(notAfter.getTime() - days * day));
      const standing = await checkPlatform(lab.ports)();
      expect(standing).toMatchObject({ isEnough, certificate: { notAfter, ending } });
    }
  });

  test('leftovers of a certificate for one host are deleted some days after it has expired, and no others', async () => {
    undelegated();
    await secure();
    delegate();
    lab.clock.advance(80 * day);
    await secure();
    const forget = () => forgetOwnNames(lab.ports)();
    const stored = async () => (await lab.ports.ownNames.all()).map(({ host }) => host);
    lab.clock.advance(18 * day);
    expect(await forget()).toBe(0);
    expect(await stored()).toEqual([own(), wildcard]);
    lab.clock.advance(2 * day);
    expect(await forgetOwnNames(lab.ports)(() => true)).toBe(0);
    expect(await forget()).toBe(1);
    expect(await stored()).toEqual([wildcard]);
    expect(await lab.ports.certificates.find(own())).toBeUndefined();
    // Expects that nothing is left to delete, even with certificate files.
    expect(await forget()).toBe(0);
    const withFiles = forgetOwnNames({ ...lab.ports, hasPlatformFiles: true });
    expect(await withFiles()).toBe(0);
    lab.clock.advance(100 * day);
    expect(await forget()).toBe(0);
    expect(await withFiles()).toBe(1);
    expect(await stored()).toEqual([]);
  });

  test('nothing is deleted of a name that was recently ordered at the authority', async () => {
    undelegated();
    lab.authority.failNext('order', { reason: 'unavailable' });
    await secure();
    delegate();
    await secure();
    const forget = () => forgetOwnNames(lab.ports)();
    lab.clock.advance(8 * day);
    expect(await forget()).toBe(0);
    lab.clock.advance(2 * day);
    expect(await forget()).toBe(1);
  });

  test('nothing is deleted of a name that is renewed meanwhile', async () => {
    undelegated();
    await secure();
    delegate();
    lab.clock.advance(80 * day);
    await secure();
    lab.clock.advance(30 * day);
    const { ownNames } = lab.ports;
    const renewing = jest.spyOn(ownNames, 'all').mockImplementationOnce(async () => {
      renewing.mockRestore();
      const before = await ownNames.all();
      await ownNames.change(own(), (name) => {
        const { certificate } = name!;
        return { name: { ...name!, certificate: { ...certificate, notAfter: lab.clock.now() } } };
      });
      return before;
    });
    expect(await forgetOwnNames(lab.ports)()).toBe(0);
    lab.clock.advance(10 * day);
    expect(await forgetOwnNames(lab.ports)()).toBe(1);
  });

  test('the second authority is used when the first one does not answer', async () => {
    delegate();
    const second = secondAuthority([wildcard, own()]);
    const run = () => secure({ secondAuthority: second });
    for (let minutes = 0; minutes < 13 && ordersOf(wildcard, second) === 0; minutes++) {
      lab.authority.failNext('order', { reason: 'unavailable' });
      await run();
      lab.clock.advance(minute);
    }
    expect(ordersOf(wildcard, second)).toBe(1);
    expect((await pair()).certificate).toMatchObject({ kind: 'issued', issuedBy: 'second.test' });
  });
});

test('a project host is ordered at the second authority when the first one does not answer', async () => {
  const second = secondAuthority([own()]);
  undelegated();
  for (let minutes = 0; minutes < 13; minutes++) {
    lab.authority.failNext('order', { reason: 'unavailable' });
    await secure({ secondAuthority: second });
    lab.clock.advance(minute);
  }
  expect(ordersOf(own(), second)).toBe(1);
  expect((await lab.ports.ownNames.find(own()))?.certificate).toMatchObject({
    issuedBy: 'second.test',
  });
});

test("hosts wait a day at most for the platform's certificate while its delegation cannot be looked up", async () => {
  const unseen = () =>
    lab.dns.tell('sites.test', facts({ delegation: { kind: 'failed', reason: 'timeout' } }));
  unseen();
  for (let hours = 0; hours < 24; hours++) {
    expect(await secure()).toBe(0);
    lab.clock.advance(hour);
  }
  expect(await secure()).toBe(1);
  expect([ordersOf(wildcard), ordersOf(own())]).toEqual([0, 1]);
});

test('resolvers that fail once do not affect the hosts of projects', async () => {
  lab.dns.tell('sites.test', facts({ delegation: { kind: 'failed', reason: 'timeout' } }));
  expect(await secure()).toBe(0);
  delegate();
  lab.clock.advance(minute);
  expect(await secure()).toBe(1);
  expect([ordersOf(wildcard), ordersOf(own())]).toEqual([1, 0]);
});

test("an authority that does not answer about one project's certificate is still asked about the others", async () => {
  undelegated();
  for (let n = 0; n < 5; n++) await servedProject(lab.stores);
  await secure();
  lab.clock.advance(day);
  let asked = 0;
  let oddAt = [2, 3, 5];
  const authority = Object.assign(Object.create(lab.authority) as typeof lab.authority, {
    renewalWindow: () => Promise.resolve(oddAt.includes(++asked) ? 'silent' : undefined),
  });
  const plan = planRenewals({ ...lab.ports, authority });
  await plan();
  expect(asked).toBe(6);
  lab.clock.advance(day);
  [asked, oddAt] = [0, [1]];
  await plan();
  expect(asked).toBe(1);
});

test("hosts get their own certificates without the record, until the platform's certificate is there", async () => {
  undelegated();
  expect(await secure()).toBe(1);
  expect(ordersOf(own())).toBe(1);
  delegate();
  expect(await secure()).toBe(1);
  lab.clock.advance(61 * day);
  expect(await secure()).toBe(1);
  expect([ordersOf(wildcard), ordersOf(own())]).toEqual([2, 1]);
});

/**
 * The project's own host, whose authority requests its renewal now. @returns the chain of its certificate
 */
const dueByWindow = async (): Promise<string> => {
  undelegated();
  await secure();
  lab.clock.advance(day);
  const { chain } = (await lab.ports.certificates.find(own()))!;
  const window = { start: after(2 * day), end: after(2 * day + hour), askAgainAt: after(9 * day) };
  lab.authority.suggestRenewal(chain, window);
  await planRenewals(lab.ports)();
  lab.clock.advance(2 * day);
  return chain;
};

test('a renewal of a project host that its authority turns out not to exempt waits for the budgets', async () => {
  const chain = await dueByWindow();
  lab.authority.markReplaced(chain);
  const name = { accountId: '', host: 'a.test', registrableDomain: 'a.test', isManual: false };
  const other = { ...name, authority: 'authority.test', kind: 'renewal', orderKey: 'a' } as const;
  // One place is left, which the order itself takes.
  const spend = async (count: number) => {
    const entry = { ...other, occurredAt: lab.clock.now() };
    await lab.stores.edgeWriter.writeLedger({ entered: Array<typeof entry>(count).fill(entry) });
  };
  const { stopAt } = caBudgets.orders;
  const authority = around(lab.ports.authority, 'order', { before: () => spend(1) });
  await spend(stopAt - 1);
  expect(await secure({ authority })).toBe(0);
  expect(lab.authority.replaced.at(-1)).toBe(chain);
  expect((await lab.ports.ledger.orders('authority.test', lab.clock.now())).length).toBe(stopAt);
  lab.clock.advance(4 * hour);
  await spend(stopAt - 1);
  expect(await secure()).toBe(1);
  expect(lab.authority.replaced.slice(-2)).toEqual([chain, undefined]);
});

test("hosts get their own certificates before the platform's certificate ends when the record is removed", async () => {
  delegate();
  await secure();
  undelegated();
  lab.clock.advance(80 * day);
  expect(await secure()).toBe(0);
  lab.clock.advance(6 * day);
  expect(await secure()).toBe(1);
  expect([ordersOf(wildcard), ordersOf(own())]).toEqual([1, 1]);
});

test('nothing is ordered and no project waits when the operator provides certificate files', async () => {
  delegate();
  expect(await secure({ hasPlatformFiles: true })).toBe(0);
  expect(lab.authority.log).toEqual([]);
  undelegated();
  lab.authority.failNext('look', { reason: 'challenge' });
  await secure();
  const project = { ...lab.project, servedDeployId: 'dep_1' };
  expect(await showOwnHold(lab.ports)(project)).toBeDefined();
  expect(await showOwnHold({ ...lab.ports, hasPlatformFiles: true })(project)).toBeUndefined();
});

test('a lost answer to an order of a project host counts as an order, but not as a certificate', async () => {
  undelegated();
  const authority = around(lab.authority, 'order', { after: () => Promise.reject(new Error()) });
  await expect(secure({ authority })).rejects.toThrow();
  expect(await secure()).toBe(1);
  const { accountId } = lab.project;
  const name = { authority: 'authority.test', accountId, host: own(), registrableDomain: '' };
  const use = await lab.ports.ledger.use(name, lab.clock.now());
  expect([use.accountOrders.length, use.ownHosts.length]).toEqual([2, 1]);
});

test('a project whose host waits for a limit says so, even if the platform once had a certificate that has expired', async () => {
  delegate();
  await secure();
  undelegated();
  lab.clock.advance(91 * day);
  for (let n = 0; n < 20; n++) await servedProject(lab.stores);
  expect(await secure()).toBe(20);
  const holds = await Promise.all(
    (await lab.ports.edgeRecords.names())
      .filter((name) => !isPreview(name))
      .map((slug) => showOwnHold(lab.ports)({ accountId: 'acct', slug, servedDeployId: 'dep_1' })),
  );
  const waiting = holds.filter((hold) => hold !== undefined);
  expect(waiting.map(({ reason }) => reason)).toEqual(['ownHosts']);
});

test('only 20 projects get their own certificate in 7 days, and the next one shows when', async () => {
  undelegated();
  for (let n = 0; n < 20; n++) await servedProject(lab.stores);
  expect(await secure()).toBe(20);
  const holds = await Promise.all(
    (await lab.ports.edgeRecords.names())
      .filter((name) => !isPreview(name))
      .map((slug) => {
        const project = { accountId: 'acct', slug, servedDeployId: 'dep_1' };
        return showOwnHold(lab.ports)(project);
      }),
  );
  const waiting = holds.filter((hold) => hold !== undefined);
  expect(waiting).toEqual([{ reason: 'ownHosts', nextAt: after(7 * day) }]);
  lab.clock.advance(7 * day);
  expect(await secure()).toBe(1);
});
