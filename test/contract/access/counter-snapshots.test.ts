import { describeStores } from '../../support/store-contracts.ts';
import { counterSnapshotsContract } from './counter-snapshots.contract.ts';

describeStores('snapshots of counters', counterSnapshotsContract);
