import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ScriptedAuthority } from '../../support/domains/scripted-authority.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { attemptAt } from '../../../src/domains/domain/attachment/due-work.ts';
import { planRenewals } from '../../../src/domains/use-cases/plan-renewals.ts';
import { closeLabs, domainLab, host, type DomainLab } from '../../support/domains/domain-lab.ts';
import { after, day, hour, minute } from '../../support/domains/known-domains.ts';
import { records } from '../../support/domains/known-dns.ts';

afterEach(closeLabs);

const [first, second] = ['authority.test', 'other.test'];

let lab: DomainLab;
let other: ScriptedAuthority;
beforeEach(async () => {
  lab = await domainLab();
  const { orders } = lab.ports;
  other = new ScriptedAuthority({
    name: second,
    clock: lab.clock,
    expects: () => true,
    visit: (name, token) => orders.answer(name, token),
  });
});

const tend = () => lab.tendDue({ secondAuthority: other });

/** Advances to each next step until that time. */
const tendUntil = async (domain: CustomDomain, end: Date): Promise<CustomDomain> => {
  for (;;) {
    const at = attemptAt(await lab.current(domain));
    if (!at || at > end) return lab.current(domain);
    if (at > lab.clock.now()) lab.clock.set(at);
    await tend();
  }
};

const fail = (times: number, ...failure: Parameters<ScriptedAuthority['failNext']>) => {
  for (let n = 0; n < times; n++) lab.authority.failNext(...failure);
};

const outcomes = async ({ id }: CustomDomain) =>
  (await lab.ports.timeline.list(id, 100))
    .filter(({ kind }) => kind === 'attempt')
    .map(({ details }) => `${String(details['outcome'])} ${String(details['authority'])}`)
    .toReversed();

const forbid = (...issuers: readonly string[]) => ({
  caa: [
    {
      name: 'example.com',
      answer: records(...issuers.map((value) => ({ flags: 0, tag: 'issue', value }))),
    },
  ],
});

describe('a new domain', () => {
  test('abandons an order at an authority that stops answering, and counts it', async () => {
    const domain = await lab.addVerified();
    fail(9, 'look', { reason: 'unavailable' });
    const live = await tendUntil(domain, after(11 * minute));
    expect(live).toMatchObject({ state: 'live', certificate: { issuedBy: second } });
    expect(await outcomes(domain)).toEqual([
      ...[`failed ${first}`, `failed ${first}`, `left ${first}`, `issued ${second}`],
    ]);
    expect(await lab.keptOrders(domain)).toEqual([]);
    const name = { ...domain, authority: first };
    expect((await lab.ports.ledger.use(name, lab.clock.now())).exactName).toHaveLength(1);
  });

  test('is ordered at the second authority at once if CAA allows only that one', async () => {
    const domain = await lab.add();
    lab.point(domain, forbid(second));
    await lab.ports.domains.get(domain.id);
    lab.clock.advance(minute);
    await tend();
    const live = await lab.current(domain);
    expect(live).toMatchObject({ state: 'live', certificate: { issuedBy: second } });
    expect(lab.authority.log).toEqual([]);
  });

  test('is still ordered at the first authority after the second one rejects it', async () => {
    const domain = await lab.addVerified();
    fail(2, 'order', { reason: 'unavailable' });
    other.failNext('order', { reason: 'rejected_name' });
    const live = await tendUntil(domain, after(day));
    expect(live).toMatchObject({ state: 'live', certificate: { issuedBy: first } });
    expect(await outcomes(domain)).toEqual([
      ...[`failed ${first}`, `failed ${first}`, `failed ${second}`, `issued ${first}`],
    ]);
  });
});

describe('a renewal', () => {
  const renewing = async (): Promise<CustomDomain> => {
    const live = await lab.addLive();
    lab.clock.set(attemptAt(live)!);
    return live;
  };

  test('gets its window from the authority that issued the certificate', async () => {
    const live = await renewing();
    fail(9, 'order', { reason: 'unavailable' });
    await tendUntil(live, new Date(lab.clock.now().getTime() + 3 * day));
    const { chain } = (await lab.ports.certificates.find(host))!;
    lab.clock.advance(day);
    const span = { start: after(80 * day), end: after(81 * day), askAgainAt: after(100 * day) };
    lab.authority.suggestRenewal(chain, { ...span, start: after(200 * day) });
    other.suggestRenewal(chain, span);
    const ports = { ...lab.ports, secondAuthority: other };
    expect((await planRenewals(ports)()).planned).toBe(1);
    lab.clock.set(after(101 * day));
    expect((await planRenewals(lab.ports)()).planned).toBe(0);
  });
});

test('an order at an authority that is no longer configured is replaced', async () => {
  const domain = await lab.addVerified();
  fail(2, 'order', { reason: 'unavailable' });
  for (let n = 0; n < 3; n++) other.failNext('look', { reason: 'unavailable' });
  await tendUntil(domain, after(10 * minute));
  expect(await lab.current(domain)).toMatchObject({ certificate: { work: { authority: second } } });
  lab.clock.set(after(3 * hour));
  await lab.tendDue();
  await lab.tendDue();
  expect(await lab.current(domain)).toMatchObject({
    state: 'live',
    certificate: { issuedBy: first },
  });
});
