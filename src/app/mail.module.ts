import { MailPump } from '../adapters/schedule/mail-pump.ts';
import { Clock } from '../kernel/clock.ts';
import { Mails } from '../notifications/mail-ports.ts';
import { LogKey, NotificationsKey } from './keys.ts';
import { wiring } from './wiring.ts';

/** How mail leaves. */
export const mailModule = wiring((once) => {
  once(MailPump, (c) => {
    const notifications = c.get(NotificationsKey);
    return new MailPump({
      ...{ mails: c.get(Mails), clock: c.get(Clock), log: c.get(LogKey) },
      deliver: (message, signal) => notifications.deliverMail(message, signal),
    });
  });
});
