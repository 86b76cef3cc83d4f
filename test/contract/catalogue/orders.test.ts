import { describe } from '@jest/globals';
import { openStores, storeKinds } from '../../support/stores.ts';
import { ordersContract } from './orders.contract.ts';

describe.each(storeKinds)('orders in %s', (kind) => {
  ordersContract(() => openStores(kind));
});
