import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { DestinationRules } from './domain/webhooks/destination.ts';
import { deliverToWebhooks } from './use-cases/deliver-to-webhooks.ts';
import { manageWebhooks } from './use-cases/manage-webhooks.ts';
import type {
  AskedCalls,
  Outside,
  WebhookDeliveries,
  Webhooks,
  WebhookSigning,
} from './webhook-ports.ts';

export interface WebhookPorts {
  readonly webhooks: Webhooks;
  readonly deliveries: WebhookDeliveries;
  readonly signing: WebhookSigning;
  readonly outside: Outside;
  readonly askedCalls: AskedCalls;
  readonly destinationRules: DestinationRules;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Telling programs of owners: which addresses are called, and how each call went. */
export const webhookCalls = (ports: WebhookPorts) => ({
  ...manageWebhooks(ports),
  ...deliverToWebhooks(ports),
});

export type WebhookCalls = ReturnType<typeof webhookCalls>;
