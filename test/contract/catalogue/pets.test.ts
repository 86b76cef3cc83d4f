import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { petsContract } from './pets.contract.ts';

describe.each(storeKinds)('animals in %s', (kind) => {
  petsContract(() => openStores(kind));
});
