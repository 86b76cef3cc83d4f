import { afterEach, expect, test } from '@jest/globals';
import { certificateKinds, domainKinds } from '../../../src/domains/domain/attachment/census.ts';
import { countDomains, type DomainCensus } from '../../../src/domains/use-cases/count-domains.ts';
import { closeLabs, domainLab } from '../../support/domains/domain-lab.ts';
import { after, day, start } from '../../support/domains/known-domains.ts';
import { certificateFor } from '../../support/sites/sites.ts';

afterEach(closeLabs);

const found = ({ domains, certificates }: DomainCensus) => ({
  domains: domains.filter(({ count }) => count > 0),
  certificates: certificates.filter(({ count }) => count > 0),
});

test('domains, certificates and the budget of a whole service are counted', async () => {
  const lab = await domainLab();
  const count = countDomains(lab.ports);
  const none = await count();
  expect(found(none)).toEqual({ domains: [], certificates: [] });
  expect(none.domains).toHaveLength(domainKinds.length);
  expect(none.certificates).toHaveLength(certificateKinds.length);

  await lab.addLive();
  await lab.add(undefined, 'new.example.com');
  await lab.remove(await lab.add(undefined, 'old.example.com'));
  const own = certificateFor('shop.sites.test', { notBefore: start, notAfter: after(20 * day) });
  await lab.ports.certificates.save(own);
  const now = await count();
  const notLive = { health: 'none', actor: 'nobody', count: 1 };
  expect(found(now)).toEqual({
    domains: [
      { state: 'removed', ...notLive },
      { state: 'added', ...notLive },
      { state: 'live', health: 'healthy', actor: 'nobody', count: 1 },
    ],
    certificates: [{ state: 'settled', percentLeft: '60-100', count: 2 }],
  });
  // A process that ends reads no further page.
  expect(found(await count(() => true)).domains).toEqual([{ state: 'removed', ...notLive }]);
  const authority = 'authority.test';
  expect(now.budgets).toEqual([
    { authority, budget: 'orders', size: 250, left: 249 },
    { authority, budget: 'newOrders', size: 200, left: 199 },
    { authority, budget: 'furtherOrders', size: 125, left: 124 },
  ]);
});
