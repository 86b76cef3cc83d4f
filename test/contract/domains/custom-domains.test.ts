import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { customDomainsContract } from './custom-domains.contract.ts';
import { domainFingerprintContract } from './domain-fingerprint.contract.ts';
import { dueDomainsContract } from './due-domains.contract.ts';
import { provenNamesContract } from './proven-names.contract.ts';
import { readyDomainsContract } from './ready-domains.contract.ts';

describe.each(storeKinds)('custom domains in %s', (kind) => {
  customDomainsContract(() => openStores(kind));
});

describe.each(storeKinds)('proven names in %s', (kind) => {
  provenNamesContract(() => openStores(kind));
});

describe.each(storeKinds)('ready domains in %s', (kind) => {
  readyDomainsContract(() => openStores(kind));
});

describe.each(storeKinds)('due domains in %s', (kind) => {
  dueDomainsContract(() => openStores(kind));
});

describe.each(storeKinds)('the fingerprint of domains in %s', (kind) => {
  domainFingerprintContract(() => openStores(kind));
});
