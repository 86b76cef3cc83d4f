import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { webhookDeliveriesContract } from './webhook-deliveries.contract.ts';
import { webhooksContract } from './webhooks.contract.ts';

describe.each(storeKinds)('webhooks in %s', (kind) => {
  webhooksContract(() => openStores(kind));
});

describe.each(storeKinds)('deliveries to webhooks in %s', (kind) => {
  webhookDeliveriesContract(() => openStores(kind));
});
