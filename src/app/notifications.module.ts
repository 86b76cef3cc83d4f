import { Accounts } from '../access/ports.ts';
import { People } from '../access/people-ports.ts';
import { Clock } from '../kernel/clock.ts';
import { Sealer } from '../kernel/sealer.ts';
import type { Tracer } from '../kernel/tracer.ts';
import { notifications } from '../notifications/notifications.ts';
import { MailChoices, Mails, type Postman, Notices } from '../notifications/ports.ts';
import { ConfigKey, NotificationsKey, PostmanKey } from './keys.ts';
import { KnownRecipients } from './known-recipients.ts';
import { dashboardOrigin } from './settings/addresses.ts';
import type { Config } from './settings/config.ts';
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

type Settings = Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>;

/** The mail server, if one is set; its package is loaded with the first message. Each message is a step of a trace. */
const openPostman = (
  { smtpUrl, mailFrom: from, publicUrl }: Settings,
  tracer: Tracer | undefined,
): Postman | undefined => {
  if (smtpUrl === undefined || from === undefined) return undefined;
  const open = async (): Promise<Postman> => {
    const [{ SmtpPostman }, { smtpOptions }] = await Promise.all([
      import('../adapters/mail/smtp-postman.ts'),
      import('../adapters/mail/smtp-server.ts'),
    ]);
    return new SmtpPostman(smtpOptions(smtpUrl), { from, origin: dashboardOrigin({ publicUrl }) });
  };
  let opened: Promise<Postman> | undefined;
  const postman: Postman = {
    post: async (...mail) => (await (opened ??= open())).post(...mail),
  };
  return tracer ? tracedPostman(postman, tracer, new URL(smtpUrl).hostname) : postman;
};

const tracedPostman = (postman: Postman, tracer: Tracer, server: string): Postman => ({
  post: (mail, signal) => {
    const facts = { 'server.address': server };
    return tracer.begin({ name: 'SMTP send', kind: 'client', facts }, async (span) => {
      const posted = await postman.post(mail, signal);
      if (posted.kind !== 'taken') span.fail(posted.kind);
      return posted;
    });
  },
});
