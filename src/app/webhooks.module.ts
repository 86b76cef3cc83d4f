import { WebhookPump } from '../adapters/schedule/webhook-pump.ts';
import { named, RunningWork } from '../adapters/system/running-work.ts';
import { GuardedOutside } from '../adapters/webhooks/guarded-outside.ts';
import { StandardSigning } from '../adapters/webhooks/standard-signing.ts';
import { Clock } from '../kernel/clock.ts';
import { Ids } from '../kernel/ids.ts';
import type { Beginning } from '../kernel/tracer.ts';
import {
  Outside,
  WebhookDeliveries,
  Webhooks,
  WebhookSigning,
  type ClaimedDelivery,
} from '../notifications/webhook-ports.ts';
import { webhookCalls } from '../notifications/webhooks.ts';
import { AccessKey, ConfigKey, LogKey, MetricsKey, WebhookCallsKey } from './keys.ts';
import { countedAttempts } from './measures/counted-attempts.ts';
import { destinationRules } from './settings/destination-rules.ts';
import { begun, tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** What programs of owners are told. */
export const webhooks = wiring((once, bind) => {
  bind(WebhookSigning).toConstantValue(new StandardSigning());
  once(Outside, (c) => {
    const { dnsServers, platformAddresses: ownAddresses } = c.get(ConfigKey);
    return new GuardedOutside({
      dnsServers,
      ownAddresses,
      rules: destinationRules(c.get(ConfigKey)),
    });
  });
  once(WebhookCallsKey, (c) =>
    webhookCalls({
      webhooks: c.get(Webhooks),
      deliveries: c.get(WebhookDeliveries),
      signing: c.get(WebhookSigning),
      outside: c.get(Outside),
      askedCalls: { admit: c.get(AccessKey).admitAskedCall },
      destinationRules: destinationRules(c.get(ConfigKey)),
      ids: c.get(Ids),
      clock: c.get(Clock),
    }),
  );
  once(WebhookPump, (c) => {
    const [tracer, running, calls] = [tracerOf(c), c.get(RunningWork), c.get(WebhookCallsKey)];
    const metrics = c.get(MetricsKey, { optional: true });
    const counted = metrics
      ? countedAttempts(metrics, calls.attemptDelivery)
      : calls.attemptDelivery;
    const attempt: typeof counted = (claimed, signal) =>
      running.during(named('delivery to webhook', claimed.delivery.webhookId), () =>
        begun(tracer, callOf(claimed), () => counted(claimed, signal)),
      );
    return new WebhookPump({
      ...{ deliveries: c.get(WebhookDeliveries), attempt },
      ...{ clock: c.get(Clock), log: c.get(LogKey) },
    });
  });
});

const callOf = ({ delivery }: ClaimedDelivery): Beginning => ({
  name: 'call webhook',
  kind: 'client',
  facts: {
    'messaging.message.id': delivery.messageId,
    'animal_store.account.id': delivery.accountId,
    'animal_store.webhook.id': delivery.webhookId,
    'animal_store.webhook.type': delivery.type,
  },
});
