import { afterEach, expect, test } from '@jest/globals';
import { certificateSection } from '../../../src/adapters/dashboard/domains/certificate.ts';
import { earliestAttempt } from '../../../src/domains/domain/attachment/domain-certificate.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { recordCheck } from '../../../src/domains/domain/attachment/checks.ts';
import { showDomain } from '../../../src/domains/use-cases/show-domain.ts';
import { closeLabs, domainLab } from '../../support/domains/domain-lab.ts';
import {
  added,
  after,
  badReport,
  certificateOf,
  fail,
  hour,
  minute,
  moment,
  ordered,
  report,
} from '../../support/domains/known-domains.ts';

afterEach(closeLabs);

const now = after(3 * minute);
const refused = (retryAt?: Date): CustomDomain => {
  return fail(ordered, 'caa', now, { retryAt, issuers: ['ca.test'] }).state;
};

const shown = async (domain: CustomDomain): Promise<string> => {
  const { ports } = await domainLab();
  return certificateSection(await showDomain(ports)(domain), now)
    .toString()
    .replaceAll(/<[^>]*>/g, '');
};

const checkAt = (domain: CustomDomain, at: Date): CustomDomain => {
  return { ...domain, dns: { ...domain.dns, nextCheckAt: at } };
};

test('an attempt that waits for the DNS starts with a check, but not before the pause is over', () => {
  const waiting = refused();
  expect(earliestAttempt(checkAt(waiting, after(10 * minute)))).toEqual(after(10 * minute));
  // The pause after the first failure is a minute.
  expect(earliestAttempt(checkAt(waiting, now))).toEqual(after(4 * minute));
  const limited = checkAt(refused(after(2 * hour)), after(10 * minute));
  expect(earliestAttempt(limited)).toEqual(after(2 * hour));
  expect(earliestAttempt(ordered)).toBeUndefined();
});

test('the attempt is planned for the end of the pause once a check finds the DNS correct', () => {
  for (const retryAt of [undefined, after(2 * hour)]) {
    const at = after(10 * minute);
    const waiting = checkAt(refused(retryAt), at);
    const checked = recordCheck(waiting, report(at), moment(at)).state;
    expect(certificateOf(checked).nextAttemptAt).toEqual(earliestAttempt(waiting));
  }
});

test('the time of the next attempt is shown while our resolvers find the DNS correct', async () => {
  const text = await shown(checkAt(refused(), after(10 * minute)));
  expect(text).toContain('Next attemptin 7 minutes, if the DNS is still correct');
});

test('the reason for the wait is shown while our resolvers find the DNS wrong', async () => {
  const waiting = checkAt(refused(), after(10 * minute));
  const wrong = { ...waiting, dns: { ...waiting.dns, report: badReport(now) } };
  expect(await shown(wrong)).toContain('correct; the next check is in 7 minutes');
});

test('a name whose CAA records do not allow DNS validation says why it gets no certificate before the move', async () => {
  const seen = report(now, {
    validation: { delegated: true, method: 'http-01' },
    mayIssue: ['ca.test'],
  });
  const domain = { ...added, dns: { ...added.dns, report: seen } };
  expect(await shown(domain)).toContain('allow dns-01 in their validationmethods');
  expect(await shown(added)).not.toContain('validationmethods');
});
