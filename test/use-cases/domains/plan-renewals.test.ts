import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { caBudgets } from '../../../src/domains/domain/certificates/ca-budget.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import type { CertificateAuthority } from '../../../src/domains/certificate-ports.ts';
import { planRenewals } from '../../../src/domains/use-cases/plan-renewals.ts';
import { liveDomain, servedProject } from '../../support/domains/custom-domains.ts';
import {
  around,
  closeLabs,
  domainLab,
  host,
  type DomainLab,
} from '../../support/domains/domain-lab.ts';
import { none } from '../../support/domains/known-dns.ts';
import { certificateOf, after, day, hour } from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

const suggest = async ({ authority, ports }: DomainLab, from: number, to: number) => {
  const { chain } = (await ports.certificates.find(host))!;
  authority.suggestRenewal(chain, { start: after(from), end: after(to), askAgainAt: after(day) });
};

const plan = async ({ ports }: DomainLab) => (await planRenewals(ports)()).planned;

const liveLab = async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  lab.clock.advance(day / 2);
  return { lab, live };
};

/** The lab's authority, which answers every request for a window with this one. */
const answering = (
  { ports: { authority } }: DomainLab,
  answer: 'silent' | undefined,
  asked: () => unknown = () => undefined,
): CertificateAuthority =>
  Object.assign(Object.create(authority) as CertificateAuthority, {
    renewalWindow: () => Promise.resolve((asked(), answer)),
  });

test('a renewal is planned within the window that the authority suggests', async () => {
  const { lab, live } = await liveLab();
  await suggest(lab, 40 * day, 42 * day);
  expect(await plan(lab)).toBe(1);
  expect(certificateOf(await lab.current(live)).nextAttemptAt).toEqual(after(41 * day));
  lab.clock.set(after(41 * day));
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ state: 'live', generation: 2 });
});

test('a run returns when the next request is due, which is now if the run was stopped', async () => {
  const { lab } = await liveLab();
  await suggest(lab, 40 * day, 42 * day);
  const run = planRenewals(lab.ports);
  expect((await run(() => true)).nextAt).toEqual(new Date(0));
  expect((await run()).nextAt).toEqual(after(day));
  expect(await run()).toMatchObject({ planned: 0, nextAt: after(day) });
});

/** It has its certificate, but its traffic still goes elsewhere. */
const readyLab = async () => {
  const lab = await domainLab('acme.platform.test');
  const added = await lab.add();
  const elsewhere = { cname: none, chain: { names: [], end: 'reached' as const } };
  lab.delegate(added, elsewhere);
  await lab.verify(added);
  await lab.tendDue();
  const leave = () => lab.point(added, { ...elsewhere, delegation: none });
  lab.clock.advance(day / 2);
  return { lab, ready: await lab.current(added), leave };
};

test('the renewal of a ready domain is planned and begun like that of a live one', async () => {
  const { lab, ready } = await readyLab();
  expect(ready).toMatchObject({ state: 'added', certificate: { kind: 'issued' } });
  await suggest(lab, 0, hour);
  expect(await plan(lab)).toBe(1);
  expect((await lab.current(ready)).certificate).toMatchObject({ hasWindow: true });
  await lab.tendDue();
  expect(await lab.current(ready)).toMatchObject({ state: 'added', generation: 2 });
});

test('no renewal window is requested for an added domain without its delegation', async () => {
  const { lab, ready, leave } = await readyLab();
  leave();
  lab.clock.advance(hour);
  await lab.verify(ready);
  await suggest(lab, 0, hour);
  expect(await plan(lab)).toBe(0);
});

/** This many certificates for the name, so that the authority allows no more now. */
const spendName = async ({ clock, stores }: DomainLab, { accountId }: CustomDomain) => {
  const name = { accountId, host, authority: 'authority.test', registrableDomain: 'example.com' };
  const entry = { ...name, kind: 'issued', orderKey: 'order', isManual: false } as const;
  const entered = { ...entry, occurredAt: clock.now() };
  for (let n = 0; n < caBudgets.exactName.stopAt; n++)
    await stores.edgeWriter.writeLedger({ entered: [entered] });
};

/**
 * A domain whose renewal is due now, as the authority suggested, but whose name may have no more orders.
 */
const dueLab = async () => {
  const { lab, live } = await liveLab();
  await suggest(lab, 0, hour);
  await plan(lab);
  lab.clock.advance(hour);
  await spendName(lab, live);
  return { lab, live };
};

test('a renewal that the authority recognises uses no budget', async () => {
  const lab = await domainLab();
  const live = await lab.addLive();
  lab.clock.advance(60 * day);
  await spendName(lab, live);
  await suggest(lab, 50 * day, 51 * day);
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ generation: 2 });
});

test('a suggested renewal uses no budget only if the authority confirms its window when the renewal begins', async () => {
  const { lab, live } = await dueLab();
  lab.authority.forgetWindows();
  await lab.tendDue();
  expect(lab.asked('order')).toBe(1);
  expect(await lab.attempts(live)).toEqual(['issued', 'postponed']);
  const { nextAttemptAt } = certificateOf(await lab.current(live));
  expect(nextAttemptAt).toEqual(new Date(lab.clock.now().getTime() + 7 * day));
});

test('an authority that does not say whether a renewal counts is soon asked again', async () => {
  const { lab, live } = await dueLab();
  lab.authority.isSilent = true;
  await lab.tendDue();
  expect(lab.asked('order')).toBe(1);
  const { nextAttemptAt, notAfter } = certificateOf(await lab.current(live));
  const left = notAfter!.getTime() - lab.clock.now().getTime();
  expect(nextAttemptAt!.getTime() - lab.clock.now().getTime()).toBe(left / 20);
  lab.authority.isSilent = false;
  lab.clock.set(nextAttemptAt!);
  await lab.tendDue();
  expect(await lab.current(live)).toMatchObject({ generation: 2 });
});

test.each([
  ['that the authority exempts counts as no order', false, 0],
  ['of a certificate that it considers replaced counts as an order', true, 1],
])('a renewal %s', async (_, isReplaced, counted) => {
  const { lab } = await liveLab();
  await suggest(lab, 0, hour);
  await plan(lab);
  const { chain } = (await lab.ports.certificates.find(host))!;
  if (isReplaced) lab.authority.markReplaced(chain);
  const countedNow = async () =>
    (await lab.ports.ledger.orders('authority.test', lab.clock.now())).length;
  const before = await countedNow();
  lab.clock.advance(hour);
  await lab.tendDue();
  expect(lab.asked('order')).toBe(2 + counted);
  expect(await countedNow()).toBe(before + counted);
});

test('a renewal counts against the budgets if the authority turns out not to exempt it', async () => {
  const { lab, live } = await dueLab();
  const { chain } = (await lab.ports.certificates.find(host))!;
  lab.authority.markReplaced(chain);
  await lab.tendDue();
  expect(lab.authority.replaced).toEqual([undefined, chain]);
  expect(await lab.attempts(live)).toEqual(['issued', 'postponed']);
  const held = await lab.current(live);
  const nextAttemptAt = new Date(lab.clock.now().getTime() + 7 * day);
  expect(certificateOf(held)).toMatchObject({ nextAttemptAt });
  expect(await lab.keptOrders(live)).toEqual([]);
  const use = () => lab.ports.ledger.use({ ...live, authority: 'authority.test' }, lab.clock.now());
  expect((await use()).exactName).toHaveLength(caBudgets.exactName.stopAt);
  lab.clock.set(nextAttemptAt);
  await lab.tendDue();
  expect(lab.authority.replaced).toEqual([undefined, chain, chain, undefined]);
  expect(await lab.attempts(live)).toEqual(['issued', 'postponed', 'issued']);
  expect((await use()).exactName).toHaveLength(1);
});

test('a clock that jumps ahead of the authority’s orders no more than the budget allows', async () => {
  const lab = await domainLab();
  await lab.addLive();
  // The authority issues by its own clock, so its certificates are always due soon.
  const authority = around(lab.ports.authority, 'look', {
    before: () => lab.clock.advance(-80 * day),
    after: () => lab.clock.advance(80 * day),
  });
  lab.clock.advance(80 * day);
  for (let n = 0; n < 7 * 24; n++) {
    await lab.tendDue({ authority });
    lab.clock.advance(hour);
  }
  expect(lab.asked('order') - 1).toBeLessThanOrEqual(caBudgets.exactName.stopAt);
  expect(lab.asked('order')).toBeGreaterThan(1);
});

test('invalid renewal windows are reported', async () => {
  const { lab, live } = await liveLab();
  await suggest(lab, 42 * day, 40 * day);
  const { planned, ignored } = await planRenewals(lab.ports)();
  expect(planned).toBe(0);
  expect(ignored).toEqual([{ host, start: after(42 * day), end: after(40 * day) }]);
  const { nextAttemptAt } = certificateOf(live);
  expect(certificateOf(await lab.current(live))).toMatchObject({ nextAttemptAt });
});

test('renewals count again when the authority stops offering windows, but not when it does not answer', async () => {
  const { lab, live } = await liveLab();
  const hasWindow = async () => {
    const { certificate } = await lab.current(live);
    return certificate.kind === 'issued' && certificate.hasWindow;
  };
  await suggest(lab, 40 * day, 42 * day);
  await plan(lab);
  expect(await hasWindow()).toBe(true);
  lab.clock.advance(day);
  await planRenewals({ ...lab.ports, authority: answering(lab, 'silent') })();
  expect(await hasWindow()).toBe(true);
  lab.clock.advance(day);
  await planRenewals({ ...lab.ports, authority: answering(lab, undefined) })();
  expect(await hasWindow()).toBe(false);
});

test('an authority that does not answer is contacted once in a run, and never after a stop', async () => {
  const { lab } = await liveLab();
  await lab.addLive('blog.example.com');
  lab.clock.advance(day);
  let asked = 0;
  const authority = answering(lab, 'silent', () => (asked += 1));
  const run = planRenewals({ ...lab.ports, authority });
  await run(() => true);
  expect(asked).toBe(0);
  await run();
  expect(asked).toBe(1);
  await run();
  expect(asked).toBe(2);
});

test('a run lasts until every request has ended, even when another part of it failed', async () => {
  const { lab } = await liveLab();
  lab.clock.advance(day);
  let hasEnded = false;
  const slow = async () => {
    await setImmediate();
    hasEnded = true;
    return undefined;
  };
  const authority = Object.assign(answering(lab, undefined), { renewalWindow: slow });
  let reads = 0;
  const ownNames = Object.assign(Object.create(lab.ports.ownNames) as typeof lab.ports.ownNames, {
    all: () => (++reads > 1 ? Promise.reject(new Error('away')) : Promise.resolve([])),
  });
  const ports = { ...lab.ports, authority, secondAuthority: lab.authority, ownNames };
  await expect(planRenewals(ports)()).rejects.toThrow('away');
  expect(hasEnded).toBe(true);
});

test('an authority that does not answer about some certificates is still asked about others, until it never answers', async () => {
  const lab = await domainLab();
  for (let n = 0; n < 30; n++) await liveDomain(lab.stores, await servedProject(lab.stores));
  lab.clock.advance(day);
  let asked = 0;
  const run = async (answers: (question: number) => boolean) => {
    asked = 0;
    const renewalWindow = () => Promise.resolve(answers(++asked) ? undefined : 'silent');
    const authority = Object.assign(answering(lab, undefined), { renewalWindow });
    await planRenewals({ ...lab.ports, authority })();
    lab.clock.advance(day);
    return asked;
  };
  expect(await run((question) => question % 3 === 1)).toBe(30);
  expect(await run((question) => question === 1)).toBeLessThan(12);
});

test('a run that takes more than four minutes leaves the rest to the next one', async () => {
  const { lab } = await liveLab();
  await lab.addLive('blog.example.com');
  lab.clock.advance(day);
  let asked = 0;
  const authority = answering(lab, undefined, () => {
    asked += 1;
    lab.clock.advance(5 * 60_000);
  });
  const run = planRenewals({ ...lab.ports, authority });
  await run();
  expect(asked).toBe(1);
  await run();
  expect(asked).toBe(2);
});
