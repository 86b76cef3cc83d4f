import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { noticesContract } from './notices.contract.ts';

describe.each(storeKinds)('notices in %s', (kind) => {
  noticesContract(() => openStores(kind));
});
