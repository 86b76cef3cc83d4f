import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { apiKeyRotationContract } from './api-key-rotation.contract.ts';
import { apiKeysContract } from './api-keys.contract.ts';
import { keyHoldersContract } from './key-holders.contract.ts';

describe.each(storeKinds)('API keys in %s', (kind) => {
  apiKeysContract(() => openStores(kind));
});

describe.each(storeKinds)('rotation of API keys in %s', (kind) => {
  apiKeyRotationContract(() => openStores(kind));
});

describe.each(storeKinds)('holders of API keys in %s', (kind) => {
  keyHoldersContract(() => openStores(kind));
});
