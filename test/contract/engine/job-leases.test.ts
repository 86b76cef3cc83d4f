import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { jobLeasesContract } from './job-leases.contract.ts';

describe.each(storeKinds)('leases of jobs in %s', (kind) => {
  jobLeasesContract(() => openStores(kind));
});
