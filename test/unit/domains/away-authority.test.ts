import { describe, expect, test } from '@jest/globals';
import {
  certificateFailed,
  fenceOf,
  orderStarted,
} from '../../../src/domains/domain/attachment/certificate.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { orderFailed, orderProcessing } from '../../../src/domains/domain/attachment/order.ts';
import { workOn } from '../../../src/domains/domain/certificates/standing.ts';
import { after, failure, minute, verified } from '../../support/domains/known-domains.ts';

const first = 'authority.test';

test('an authority that works on an order is no longer away', () => {
  const begun = orderStarted(verified, { ...fenceOf(verified), authority: first }, after(minute));
  const order = { ...fenceOf(begun.state), failure: failure('unavailable'), issuers: [] };
  const failed = certificateFailed(begun.state, order, after(2 * minute)).state;
  const turnsOf = ({ certificate }: CustomDomain) =>
    certificate.kind === 'none' ? undefined : certificate.work.attempts?.turns;
  expect(turnsOf(failed)).toEqual({
    [first]: { awaySince: after(2 * minute), retryAt: undefined },
  });
  const { state } = orderProcessing(failed, after(3 * minute));
  expect(turnsOf(state)).toEqual({});
  expect(orderProcessing(verified, after(3 * minute)).state).toMatchObject({ state: 'verified' });
});

describe('since when an authority is away', () => {
  const outage = (domain: CustomDomain, kind: 'failed' | 'not_placed', at: number) => {
    const away = { failure: failure('unavailable'), issuers: [] };
    const end = kind === 'failed' ? { kind, ...away } : { kind, ...away, counts: false };
    return orderFailed(domain, { ordered: domain, end, issuers: [] }, after(at)).state;
  };
  const begin = (domain: CustomDomain, at: number) =>
    orderStarted(domain, { ...fenceOf(domain), authority: first }, after(at)).state;
  const awaySince = (domain: CustomDomain) =>
    workOn(domain)?.attempts?.turns[first]?.awaySince?.getTime();

  test('is since the first attempt in a row that it did not answer', () => {
    const once = outage(begin(verified, minute), 'not_placed', 2 * minute);
    const twice = outage(begin(once, 3 * minute), 'not_placed', 4 * minute);
    expect(awaySince(twice)).toBe(after(2 * minute).getTime());
  });

  test('is counted anew once it has taken an order, and then no more', () => {
    const once = outage(begin(verified, minute), 'not_placed', 2 * minute);
    const placed = outage(begin(once, 3 * minute), 'failed', 4 * minute);
    expect(awaySince(placed)).toBe(after(4 * minute).getTime());
    expect(awaySince(outage(placed, 'failed', 5 * minute))).toBe(after(4 * minute).getTime());
  });
});
