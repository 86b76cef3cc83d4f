import { describeStores } from '../../support/store-contracts.ts';
import { domainPairsContract } from './domain-pairs.contract.ts';
import { domainRoutesContract } from './domain-routes.contract.ts';
import { projectSettingsContract } from './project-settings.contract.ts';

describeStores('settings of projects', projectSettingsContract);

describeStores('routes of projects', domainRoutesContract);

describeStores('pairs of domains', domainPairsContract);
