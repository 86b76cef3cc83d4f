import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { signInLinksContract } from './sign-in-links.contract.ts';

describe.each(storeKinds)('the sign-in links in %s', (kind) => {
  signInLinksContract(() => openStores(kind));
});
