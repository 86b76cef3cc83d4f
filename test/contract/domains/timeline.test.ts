import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { timelineContract } from './timeline.contract.ts';

describe.each(storeKinds)('timelines in %s', (kind) => {
  timelineContract(() => openStores(kind));
});
