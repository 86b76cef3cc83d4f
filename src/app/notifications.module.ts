import { Accounts } from '../access/key-ports.ts';
import { People } from '../access/people-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Sealer } from '../kernel/sealer.ts';
import { notifications } from '../notifications/notifications.ts';
import { MailChoices, Mails } from '../notifications/mail-ports.ts';
import { Notices } from '../notifications/ports.ts';
import { ConfigKey, NotificationsKey, PostmanKey } from './keys.ts';
import { KnownRecipients } from './known-recipients.ts';
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
      mails: c.get(Mails),
      mailChoices: c.get(MailChoices),
      recipients: new KnownRecipients(c.get(People), accounts),
      ...c.get(PostmanKey),
      sealer: c.get(Sealer),
      clock,
    });
  });
});
