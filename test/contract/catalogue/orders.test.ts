import { describeStores } from '../../support/store-contracts.ts';
import { ordersContract } from './orders.contract.ts';

describeStores('orders', ordersContract);
