import { describeStores } from '../../support/store-contracts.ts';
import { petsContract } from './pets.contract.ts';

describeStores('animals', petsContract);
