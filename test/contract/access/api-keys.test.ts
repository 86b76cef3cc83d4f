import { describeStores } from '../../support/store-contracts.ts';
import { apiKeyRotationContract } from './api-key-rotation.contract.ts';
import { apiKeysContract } from './api-keys.contract.ts';
import { keyHoldersContract } from './key-holders.contract.ts';

describeStores('API keys', apiKeysContract);
describeStores('rotation of API keys', apiKeyRotationContract);
describeStores('holders of API keys', keyHoldersContract);
