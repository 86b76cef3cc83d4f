import { MailPump } from '../adapters/schedule/mail-pump.ts';
import { Clock } from '../kernel/clock.ts';
import { Mails } from '../notifications/mail-ports.ts';
import { LogKey, NotificationsKey } from './keys.ts';
import { wiring } from './wiring.ts';

/** How mail leaves. */
export const mailModule = wiring((once) => {
  once(
    MailPump,
    (c) =>
      new MailPump({
        ...{ mails: c.get(Mails), clock: c.get(Clock), log: c.get(LogKey) },
        deliver: (message, signal) => c.get(NotificationsKey).deliverMail(message, signal),
      }),
  );
});
