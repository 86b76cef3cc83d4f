import { describeStores } from '../../support/store-contracts.ts';
import { signInLinksContract } from './sign-in-links.contract.ts';

describeStores('the sign-in links', signInLinksContract);
