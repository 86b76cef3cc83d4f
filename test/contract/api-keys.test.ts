import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../support/stores.ts';
import { apiKeysContract } from './api-keys.contract.ts';

describe.each(storeKinds)('API keys in %s', (kind) => {
  apiKeysContract(() => openStores(kind));
});
