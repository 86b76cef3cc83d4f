import { describeStores } from '../../support/store-contracts.ts';
import { accountsContract } from './accounts.contract.ts';

describeStores('accounts', accountsContract);
