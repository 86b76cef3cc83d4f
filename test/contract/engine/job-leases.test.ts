import { describeStores } from '../../support/store-contracts.ts';
import { jobLeasesContract } from './job-leases.contract.ts';

describeStores('leases of jobs', jobLeasesContract);
