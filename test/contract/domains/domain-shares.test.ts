import { describeStores } from '../../support/store-contracts.ts';
import { domainSharesContract } from './domain-shares.contract.ts';

describeStores('links to domains', domainSharesContract);
