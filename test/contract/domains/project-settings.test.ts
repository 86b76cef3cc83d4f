import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { domainPairsContract } from './domain-pairs.contract.ts';
import { domainRoutesContract } from './domain-routes.contract.ts';
import { projectSettingsContract } from './project-settings.contract.ts';

describe.each(storeKinds)('settings of projects in %s', (kind) => {
  projectSettingsContract(() => openStores(kind));
});

describe.each(storeKinds)('routes of projects in %s', (kind) => {
  domainRoutesContract(() => openStores(kind));
});

describe.each(storeKinds)('pairs of domains in %s', (kind) => {
  domainPairsContract(() => openStores(kind));
});
