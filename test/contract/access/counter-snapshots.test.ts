import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { counterSnapshotsContract } from './counter-snapshots.contract.ts';

describe.each(storeKinds)('snapshots of counters in %s', (kind) => {
  counterSnapshotsContract(() => openStores(kind));
});
