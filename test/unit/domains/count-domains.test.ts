import { expect, test } from '@jest/globals';
import {
  certificateKindOf,
  certificateKinds,
  percentLeftRanges,
  domainKinds,
  kindOf,
  ownCertificateKind,
} from '../../../src/domains/domain/attachment/census.ts';
import { dnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import { countDomains, type DomainCensus } from '../../../src/domains/use-cases/count-domains.ts';
import { domainLab } from '../../support/domains/domain-lab.ts';
import {
  after,
  day,
  inEachState,
  live,
  start,
  verified,
  withEveryWork,
} from '../../support/domains/known-domains.ts';
import { certificateFor } from '../../support/sites/sites.ts';

const ours = dnsProblem('ca_unavailable', { seen: 'nothing', wanted: 'an answer' });
const moments = [after(0), after(90 * day)];

test('every domain is of a kind that is counted', () => {
  for (const domain of inEachState.flatMap((one) => withEveryWork(one))) {
    for (const now of moments) expect(domainKinds).toContainEqual(kindOf(domain, now));
  }
});

test('a live domain is counted by its health and by who must act', () => {
  const kinds = [live, ...withEveryWork(live), ...withEveryWork(live, ours)].map((domain) => {
    const { health, actor } = kindOf(domain, after(0));
    return `${health}: ${actor}`;
  });
  expect(new Set(kinds)).toEqual(new Set(['healthy: nobody', 'at_risk: customer', 'at_risk: us']));
  expect(kindOf(live, after(90 * day))).toMatchObject({
    health: 'certificate_expired',
    actor: 'us',
  });
});

test.each([
  ['missing', undefined, ['waiting_for_owner', 'due', 'settled']],
  ['ours', ours, ['failing', 'due', 'settled']],
])('the state of a certificate says who must act when the problem is %s', (_, problem, states) => {
  const all = [verified, live].flatMap((domain) => withEveryWork(domain, problem));
  const kinds = all.map((domain) => certificateKindOf(domain, start)!);
  for (const kind of kinds) expect(certificateKinds).toContainEqual(kind);
  expect(new Set(kinds.map(({ state }) => state))).toEqual(new Set(states));
});

test.each([90 * day, 6 * day, 60_000])(
  'a certificate is counted by how much of %i ms is left',
  (life) => {
    const its = { host: 'shop.sites.test', notBefore: start, notAfter: after(life) };
    const left = [100, 60, 59, 30, 29, 20, 19, 5, 4, 1, 0, -1];
    const kinds = left.map((percent) => ownCertificateKind(its, after(life * (1 - percent / 100))));
    expect(kinds.map(({ percentLeft }) => percentLeft)).toEqual([
      ...['60-100', '60-100', '30-60', '30-60', '20-30', '20-30', '5-20', '5-20', '0-5', '0-5'],
      ...['expired', 'expired'],
    ]);
    expect(certificateKindOf(verified, start)?.percentLeft).toBe('none');
    expect(percentLeftRanges).toHaveLength(7);
  },
);

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
  const authority = 'authority.test';
  expect(now.budgets).toEqual([
    { authority, budget: 'orders', size: 250, left: 249 },
    { authority, budget: 'newOrders', size: 200, left: 199 },
    { authority, budget: 'furtherOrders', size: 125, left: 124 },
  ]);
});
