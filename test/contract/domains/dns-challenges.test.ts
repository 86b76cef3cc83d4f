import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { dnsChallengesContract } from './dns-challenges.contract.ts';

describe.each(storeKinds)('values of DNS challenges in %s', (kind) => {
  dnsChallengesContract(() => openStores(kind));
});
