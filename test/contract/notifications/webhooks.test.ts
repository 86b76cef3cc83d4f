import { describeStores } from '../../support/store-contracts.ts';
import { webhookDeliveriesContract } from './webhook-deliveries.contract.ts';
import { webhooksContract } from './webhooks.contract.ts';

describeStores('webhooks', webhooksContract);
describeStores('deliveries to webhooks', webhookDeliveriesContract);
