import { describeStores } from '../../support/store-contracts.ts';
import { projectsContract } from './projects.contract.ts';

describeStores('projects', projectsContract);
