import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { mailChoicesContract } from './mail-choices.contract.ts';

describe.each(storeKinds)('choices of mail in %s', (kind) => {
  mailChoicesContract(() => openStores(kind));
});
