import { expect, test } from '@jest/globals';
import {
  freshAttempts,
  planned,
} from '../../../src/domains/domain/certificates/certificate-status.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import {
  askToVerify,
  reverify,
  reverifyAllowedAt,
  verifyAllowedAt,
} from '../../../src/domains/domain/attachment/checks.ts';
import { codeOf } from '../../support/race.ts';
import { added, after, hour, minute, verified } from '../../support/domains/known-domains.ts';

const refusalOf = (act: () => unknown): unknown => {
  try {
    act();
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
};

const isVerified = (
  domain: CustomDomain,
): domain is Extract<CustomDomain, { readonly state: 'verified' }> => domain.state === 'verified';
const [waiting] = [verified].filter(isVerified);
if (!waiting) throw new Error('it is not verified');
const { dns } = added;
const asked = { ...added, dns: { ...dns, lastVerifyAskedAt: after(hour) } };

test('the next Verify is allowed exactly when the page says, to the millisecond', () => {
  const at = verifyAllowedAt(asked, after(hour + 1));
  expect(at).toEqual(after(hour + 10_000));
  const early = new Date(at.getTime() - 1);
  expect(refusalOf(() => askToVerify(asked, early))).toBe('verify_too_early');
  expect(refusalOf(() => askToVerify(asked, at))).toBeUndefined();
});

test('a first Verify is allowed at once, and so is one after the clock was set back', () => {
  expect(verifyAllowedAt(added, after(minute))).toEqual(after(minute));
  expect(verifyAllowedAt(asked, after(minute))).toEqual(after(minute));
});

test('the next Re-verify is allowed exactly when the page says, to the millisecond', () => {
  const at = reverifyAllowedAt(waiting, after(2 * minute));
  expect(at).toEqual(after(31 * minute));
  const early = new Date(at.getTime() - 1);
  expect(refusalOf(() => reverify(verified, early))).toBe('reverify_too_early');
  expect(refusalOf(() => reverify(verified, at))).toBeUndefined();
});

test('it is never further away than the pause, unless the authority says so', () => {
  expect(reverifyAllowedAt(waiting, after(-hour))).toEqual(after(-hour / 2));
  const turns = { 'authority.test': { awaySince: undefined, retryAt: after(3 * hour) } };
  const attempts = { ...freshAttempts(after(minute)), turns };
  const told = { ...waiting.certificate, work: { ...planned(after(hour)), attempts } };
  expect(reverifyAllowedAt({ ...waiting, certificate: told }, after(hour))).toEqual(
    after(3 * hour),
  );
});
