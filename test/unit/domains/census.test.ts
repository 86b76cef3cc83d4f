import { expect, test } from '@jest/globals';
import {
  certificateKindOf,
  certificateKinds,
  domainKinds,
  kindOf,
  kindOfCertificate,
  percentLeftRanges,
} from '../../../src/domains/domain/attachment/census.ts';
import type { DomainIn } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblem } from '../../../src/domains/domain/dns/problem.ts';
import {
  after,
  day,
  inEachState,
  live,
  start,
  verified,
  withEveryWork,
} from '../../support/domains/known-domains.ts';

const ours = dnsProblem('ca_unavailable', { seen: 'nothing', wanted: 'an answer' });
const { certificate: issued } = live as DomainIn<'live'>;
const moments = [after(0), after(90 * day)];

test('every domain belongs to a kind that is counted', () => {
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
  'a certificate is counted by the share of %i ms that is left',
  (life) => {
    const its = { ...issued, notBefore: start, notAfter: after(life) };
    const left = [100, 60, 59, 30, 29, 20, 19, 5, 4, 1, 0, -1];
    const kinds = left.map((percent) => kindOfCertificate(its, after(life * (1 - percent / 100))));
    expect(kinds.map(({ percentLeft }) => percentLeft)).toEqual([
      ...['60-100', '60-100', '30-60', '30-60', '20-30', '20-30', '5-20', '5-20', '0-5', '0-5'],
      ...['expired', 'expired'],
    ]);
    expect(certificateKindOf(verified, start)?.percentLeft).toBe('none');
    expect(percentLeftRanges).toHaveLength(7);
  },
);
