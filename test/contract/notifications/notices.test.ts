import { describeStores } from '../../support/store-contracts.ts';
import { noticesContract } from './notices.contract.ts';

describeStores('notices', noticesContract);
