import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newChallengeZone, openDomainLab, type DomainLab } from '../lab/domain-lab.ts';
import { newFakeClock, type FakeClock } from '../lab/fake-clock.ts';
import type { Shop } from '../lab/shop.ts';
import { until } from '../support/until.ts';

const wildcard = '*.shop.customer.test';

let clock: FakeClock;
let lab: DomainLab;
let shop: Shop;
beforeAll(async () => {
  clock = await newFakeClock();
  lab = await openDomainLab('sqlite', {}, { ...clock.settings, ...(await newChallengeZone()) });
  shop = await lab.openShop('zoo');
  await lab.start();
  await lab.settle(shop);
});
afterAll(async () => {
  await lab.close();
  await clock.remove();
});

/** As an owner does again and again, with the rest in between that is asked for. */
const verify = async (owner: Shop, host: string): Promise<void> => {
  await clock.advance(11);
  await owner.verify(host).catch(() => undefined);
};

const verified = (owner: Shop, host: string) =>
  until(`${host} is verified`, async () => {
    await verify(owner, host);
    const shown = await owner.show(host);
    return shown.domain.state !== 'added' && shown;
  });

test('a wildcard gets its certificate by DNS from a real authority, and serves each name below it', async () => {
  const { records } = await shop.add(wildcard);
  expect(records.map(({ purpose, name, required }) => [purpose, name, required])).toEqual([
    ['route', '*.shop', true],
    ['delegation', '_acme-challenge.shop', true],
  ]);
  lab.zone.create(...records.slice(0, 1));
  await until('the delegation is missed', async () => {
    await verify(shop, wildcard);
    const { problems } = await shop.show(wildcard);
    return problems.some(({ code }) => code === 'delegation_missing');
  });
  lab.zone.create(...records);
  const { domain } = await verified(shop, wildcard);
  expect(domain.dns.report).toMatchObject({
    ...{ ownershipProven: true, validation: { delegated: true, method: 'dns-01' } },
    probe: expect.stringMatching(/^as-[0-9a-f]+\.shop\.customer\.test$/) as unknown,
  });
  await lab.waitUntilServed('a.shop.customer.test', 'b.shop.customer.test');
  expect(await lab.facts.outcomes(wildcard)).toEqual(['issued']);
  const visitor = await lab.visitor();
  for (const host of ['shop.customer.test', 'a.b.shop.customer.test'])
    expect(await visitor.refusal(host)).toBeDefined();
});

test('removing it stops every name that it covered', async () => {
  await shop.remove(wildcard);
  const visitor = await lab.visitor();
  await until('nothing is served', async () => {
    const refusals = ['a', 'b'].map((label) => visitor.refusal(`${label}.shop.customer.test`));
    return (await Promise.all(refusals)).every((one) => one !== undefined);
  });
});

test('the plan Pro has no wildcards, and says which one has', async () => {
  const small = await lab.openShop('small', 'pro');
  await expect(small.add('*.small.customer.test')).rejects.toThrow('plan Business or above');
});
