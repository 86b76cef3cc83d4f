import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { ownNamesContract } from './own-names.contract.ts';

describe.each(storeKinds)("the platform's own names in %s", (kind) => {
  ownNamesContract(() => openStores(kind));
});
