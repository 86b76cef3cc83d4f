import { describeStores } from '../../support/store-contracts.ts';
import { timelineContract } from './timeline.contract.ts';

describeStores('timelines', timelineContract);
