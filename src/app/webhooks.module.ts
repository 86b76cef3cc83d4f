import { GuardedOutside } from '../adapters/webhooks/guarded-outside.ts';
import { StandardSigning } from '../adapters/webhooks/standard-signing.ts';
import { Clock } from '../kernel/clock.ts';
import { Ids } from '../kernel/ids.ts';
import {
  Outside,
  WebhookDeliveries,
  Webhooks,
  WebhookSigning,
} from '../notifications/webhook-ports.ts';
import { webhookCalls } from '../notifications/notifications.ts';
import { AccessKey, ConfigKey, WebhookCallsKey } from './keys.ts';
import { destinationRules } from './settings/addresses.ts';
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
});
