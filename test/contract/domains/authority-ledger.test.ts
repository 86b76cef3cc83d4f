import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { authorityLedgerContract } from './authority-ledger.contract.ts';

describe.each(storeKinds)('the ledger of authorities in %s', (kind) => {
  authorityLedgerContract(() => openStores(kind));
});
