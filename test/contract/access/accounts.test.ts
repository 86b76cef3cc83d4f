import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { accountsContract } from './accounts.contract.ts';

describe.each(storeKinds)('accounts in %s', (kind) => {
  accountsContract(() => openStores(kind));
});
