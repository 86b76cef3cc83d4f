import { describe, expect, test } from '@jest/globals';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { workOn } from '../../../src/domains/domain/certificates/certificate-status.ts';
import {
  after,
  begin,
  fail,
  failure,
  minute,
  settle,
  verified,
} from '../../support/domains/known-domains.ts';

const first = 'authority.test';

test('an authority that works on an order is no longer away', () => {
  const begun = begin(verified, after(minute), first).state;
  const failed = fail(begun, 'unavailable', after(2 * minute)).state;
  const turnsOf = ({ certificate }: CustomDomain) =>
    certificate.kind === 'none' ? undefined : certificate.work.attempts?.turns;
  expect(turnsOf(failed)).toEqual({
    [first]: { awaySince: after(2 * minute), retryAt: undefined },
  });
  const processing = { kind: 'processing', askAgainAfterMs: minute } as const;
  const at = { now: after(2 * minute) };
  expect(turnsOf(settle(failed, processing, at).state)).toEqual({});
  expect(settle(verified, processing, at).state).toEqual(verified);
});

describe('since when an authority is away', () => {
  const outage = (domain: CustomDomain, kind: 'failed' | 'not_placed', at: number) => {
    const away = { failure: failure('unavailable') };
    const end = kind === 'failed' ? { kind, ...away } : { kind, ...away, counts: false };
    return settle(domain, end, { now: after(at) }).state;
  };
  const awaySince = (domain: CustomDomain) =>
    workOn(domain)?.attempts?.turns[first]?.awaySince?.getTime();

  test('is since the first attempt in a row that it did not answer', () => {
    const once = outage(begin(verified, after(minute), first).state, 'not_placed', 2 * minute);
    const twice = outage(begin(once, after(3 * minute), first).state, 'not_placed', 4 * minute);
    expect(awaySince(twice)).toBe(after(2 * minute).getTime());
  });

  test('is counted anew once it has taken an order, and then no more', () => {
    const once = outage(begin(verified, after(minute), first).state, 'not_placed', 2 * minute);
    const placed = outage(begin(once, after(3 * minute), first).state, 'failed', 4 * minute);
    expect(awaySince(placed)).toBe(after(4 * minute).getTime());
    expect(awaySince(outage(placed, 'failed', 5 * minute))).toBe(after(4 * minute).getTime());
  });
});
