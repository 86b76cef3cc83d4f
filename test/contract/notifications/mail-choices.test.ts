import { describeStores } from '../../support/store-contracts.ts';
import { mailChoicesContract } from './mail-choices.contract.ts';

describeStores('choices of mail', mailChoicesContract);
