import type { Tracer } from '../kernel/tracer.ts';
import type { Postman } from '../notifications/mail-ports.ts';
import { dashboardOrigin } from './settings/addresses.ts';
import type { Config } from './settings/config.ts';

type Settings = Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>;

/** The mail server, if one is set; its package is loaded with the first message. Each message is a step of a trace. */
export const openPostman = (
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
