import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { domainSharesContract } from './domain-shares.contract.ts';

describe.each(storeKinds)('links to domains in %s', (kind) => {
  domainSharesContract(() => openStores(kind));
});
