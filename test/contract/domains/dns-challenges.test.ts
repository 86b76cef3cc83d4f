import { describeStores } from '../../support/store-contracts.ts';
import { dnsChallengesContract } from './dns-challenges.contract.ts';

describeStores('values of DNS challenges', dnsChallengesContract);
