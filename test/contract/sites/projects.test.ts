import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { projectsContract } from './projects.contract.ts';

describe.each(storeKinds)('projects in %s', (kind) => {
  projectsContract(() => openStores(kind));
});
