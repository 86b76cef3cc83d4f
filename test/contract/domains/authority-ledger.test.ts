import { describeStores } from '../../support/store-contracts.ts';
import { authorityLedgerContract } from './authority-ledger.contract.ts';

describeStores('the ledger of authorities', authorityLedgerContract);
