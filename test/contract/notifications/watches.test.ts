import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { watchesContract } from './watches.contract.ts';

describe.each(storeKinds)('watches in %s', (kind) => {
  watchesContract(() => openStores(kind));
});
