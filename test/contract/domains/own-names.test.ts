import { describeStores } from '../../support/store-contracts.ts';
import { ownNamesContract } from './own-names.contract.ts';

describeStores("the platform's own names", ownNamesContract);
