import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  customDomainFrom,
  customDomainRow,
} from '../../../src/adapters/kysely/sites/custom-domain-rows.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblem, dnsProblems, isProblemCode } from '../../../src/domains/domain/dns/problem.ts';
import { firstDetails } from '../../support/domains/first-details.ts';
import { after, inEachState, report, withEveryWork } from '../../support/domains/known-domains.ts';

const codes = Object.keys(dnsProblems).filter(isProblemCode);
const problemOf = (code: (typeof codes)[number]) => dnsProblem(code, { seen: 'a', wanted: 'b' });
const lookupFailed = problemOf('dns_lookup_failed');

const rowOf = (domain: CustomDomain) => {
  return { ...customDomainRow(domain), claim: null, claimed_until: null };
};
const withReport = (domain: CustomDomain, code: (typeof codes)[number]): CustomDomain => ({
  ...domain,
  dns: { ...domain.dns, report: report(after(1), { problems: [problemOf(code)] }) },
});

describe.each(codes)('a domain with the problem %s', (code) => {
  const domains = inEachState.flatMap((domain) =>
    withEveryWork(withReport(domain, code), problemOf(code)),
  );

  test('is read back as it was stored', () => {
    for (const domain of domains) expect(customDomainFrom(rowOf(domain))).toEqual(domain);
  });

  test('is read by version 1.0.0, which serves beside during an upgrade', () => {
    // Certificates before the traffic come only with ACME_DNS_ZONE, which is set after the upgrade.
    const stored = domains.filter(
      (one) => one.state !== 'added' || one.certificate.kind === 'none',
    );
    for (const domain of stored) {
      const details: unknown = JSON.parse(customDomainRow(domain).details);
      expect(v.safeParse(firstDetails[domain.state], details).issues).toBeUndefined();
    }
  });
});

test.each(['"code":"cname_loop"', '"code":"cname_loop","exactCode":"dnssec_bogus"'])(
  'a code of a later version is read as a failed lookup: %s',
  (known) => {
    for (const domain of inEachState.flatMap((one) =>
      withEveryWork(withReport(one, 'cname_loop'), problemOf('cname_loop')),
    )) {
      const row = rowOf(domain);
      const later = known.replaceAll(/cname_loop|dnssec_bogus/gu, 'code_of_2_0_0');
      const details = row.details.replaceAll('"code":"cname_loop"', later);
      const read = JSON.stringify(customDomainFrom({ ...row, details }));
      expect(read).toContain(`"code":"${lookupFailed.code}"`);
      expect(read).not.toContain('2_0_0');
    }
  },
);
