import { asJob } from '../adapters/schedule/cron-jobs.ts';
import { Accounts } from '../access/key-ports.ts';
import { People } from '../access/people-ports.ts';
import { CustomDomains } from '../domains/custom-domain-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Sealer } from '../kernel/sealer.ts';
import { notifications } from '../notifications/notifications.ts';
import { MailChoices, Mails } from '../notifications/mail-ports.ts';
import { Notices, Watches } from '../notifications/ports.ts';
import { ConfigKey, NotificationsKey, PostmanKey, WatchDomainsKey } from './keys.ts';
import { leasedJob } from './leased.ts';
import { KnownRecipients } from './known-recipients.ts';
import { BridgedDomains } from './watched-domains.ts';
import { openPostman } from './open-postman.ts';
import { tracerOf } from './tracing.ts';
import { wiring } from './wiring.ts';

/** What people are told. */
export const notificationsModule = wiring((once) => {
  once(PostmanKey, (c) => ({ postman: openPostman(c.get(ConfigKey), tracerOf(c)) }));
  once(NotificationsKey, (c) => {
    const [clock, accounts] = [c.get(Clock), c.get(Accounts)];
    return notifications({
      notices: c.get(Notices),
      watches: c.get(Watches),
      domains: new BridgedDomains(c.get(CustomDomains)),
      mails: c.get(Mails),
      mailChoices: c.get(MailChoices),
      recipients: new KnownRecipients(c.get(People), accounts),
      ...c.get(PostmanKey),
      sealer: c.get(Sealer),
      clock,
    });
  });
  once(WatchDomainsKey, (c) => {
    const { watchDue, dueAt } = c.get(NotificationsKey).dueWatches;
    return leasedJob(c, 'tell of domains in trouble', asJob(watchDue), dueAt);
  });
});
