import { describe, expect, test } from '@jest/globals';
import {
  customDomainFrom,
  customDomainRow,
} from '../../../src/adapters/kysely/sites/custom-domain-rows.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { dnsProblem, dnsProblems, isProblemCode } from '../../../src/domains/domain/dns/problem.ts';
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

  test('is read back unchanged', () => {
    for (const domain of domains) expect(customDomainFrom(rowOf(domain))).toEqual(domain);
  });
});

test('an unknown problem code of a later version is read as a failed lookup', () => {
  for (const domain of inEachState.flatMap((one) =>
    withEveryWork(withReport(one, 'cname_loop'), problemOf('cname_loop')),
  )) {
    const row = rowOf(domain);
    const details = row.details.replaceAll('"cname_loop"', '"code_of_2_0_0"');
    const read = JSON.stringify(customDomainFrom({ ...row, details }));
    expect(read).toContain(`"code":"${lookupFailed.code}"`);
    expect(read).not.toContain('2_0_0');
  }
});
