import { describeStores } from '../../support/store-contracts.ts';
import { watchesContract } from './watches.contract.ts';

describeStores('watches', watchesContract);
