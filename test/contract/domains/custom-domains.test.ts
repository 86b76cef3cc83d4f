import { describe, expect, test } from '@jest/globals';
import {
  customDomainFrom,
  customDomainRow,
} from '../../../src/adapters/kysely/sites/custom-domain-rows.ts';
import type { CustomDomain } from '../../../src/domains/domain/attachment/custom-domain.ts';
import { live, ordered } from '../../support/domains/known-domains.ts';
import { openStores, storeKinds } from '../../support/stores.ts';
import { customDomainsContract } from './custom-domains.contract.ts';
import { dueDomainsContract } from './due-domains.contract.ts';
import { provenNamesContract } from './proven-names.contract.ts';

describe.each(storeKinds)('custom domains in %s', (kind) => {
  customDomainsContract(() => openStores(kind));
});

describe.each(storeKinds)('proven names in %s', (kind) => {
  provenNamesContract(() => openStores(kind));
});

describe.each(storeKinds)('due domains in %s', (kind) => {
  dueDomainsContract(() => openStores(kind));
});

test('an order is read as an earlier release wrote it, and written as that one reads it', () => {
  const rowOf = (domain: CustomDomain) => ({
    ...customDomainRow(domain),
    ...{ claim: null, claimed_until: null },
  });
  const row = rowOf(ordered);
  expect(row.details).toContain('"order":{}');
  expect(rowOf(live).details).not.toContain('"order"');
  const details = row.details.replace('"order":{}', '"order":{"url":"https://ca.test/1"}');
  for (const stored of [row, { ...row, details }]) {
    expect(customDomainFrom(stored).certificate.isOrdered).toBe(true);
  }
});
