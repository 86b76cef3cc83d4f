import { Accounts } from '../access/key-ports.ts';
import { People } from '../access/people-ports.ts';
import { UsageLog } from '../access/usage-ports.ts';
import { operationSunsets } from '../adapters/http/operations/operation-sunsets.ts';
import { CustomDomains } from '../domains/custom-domain-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Sealer } from '../kernel/sealer.ts';
import { notifications } from '../notifications/notifications.ts';
import { MailChoices, Mails } from '../notifications/mail-ports.ts';
import { Notices, Watches } from '../notifications/ports.ts';
import { KnownApiCallers } from './api-callers.ts';
import { ConfigKey, NotificationsKey, PostmanKey } from './keys.ts';
import { KnownRecipients } from './known-recipients.ts';
import { BridgedDomains } from './watched-domains.ts';
import { openPostman } from './open-postman.ts';
import { tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** What people are told. */
export const notificationsModule = wiring((once) => {
  once(PostmanKey, (c) => ({ postman: openPostman(c.get(ConfigKey), tracerOf(c)) }));
  once(NotificationsKey, (c) => {
    const [clock, accounts, usage] = [c.get(Clock), c.get(Accounts), c.get(UsageLog)];
    return notifications({
      notices: c.get(Notices),
      watches: c.get(Watches),
      domains: new BridgedDomains(c.get(CustomDomains)),
      callers: new KnownApiCallers({ accounts, usage, clock }),
      mails: c.get(Mails),
      mailChoices: c.get(MailChoices),
      recipients: new KnownRecipients(c.get(People), accounts),
      ...c.get(PostmanKey),
      sealer: c.get(Sealer),
      endings: [...operationSunsets].map(([operation, removedAt]) => ({ operation, removedAt })),
      clock,
    });
  });
});
