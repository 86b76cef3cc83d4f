import { Accounts } from '../../access/ports.ts';
import { People } from '../../access/people-ports.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyOutbox } from '../../adapters/kysely/kysely-outbox.ts';
import {
  KyselyMailChoices,
  KyselyMails,
} from '../../adapters/kysely/notifications/kysely-mails.ts';
import { KyselyNotices } from '../../adapters/kysely/notifications/kysely-notices.ts';
import { KyselyWebhookDeliveries } from '../../adapters/kysely/notifications/kysely-webhook-deliveries.ts';
import { KyselyWebhooks } from '../../adapters/kysely/notifications/kysely-webhooks.ts';
import { GuardedOutside, StandardSigning } from '../../adapters/webhooks/guarded-outside.ts';
import { Clock, Ids, Sealer } from '../../kernel/ports.ts';
import type { Tracer } from '../../kernel/tracer.ts';
import {
  MailChoices,
  Mails,
  Recipients,
  type Postman,
  type Recipient,
  Notices,
} from '../../notifications/ports.ts';
import { notifications, webhookCalls } from '../../notifications/notifications.ts';
import {
  Outside,
  WebhookDeliveries,
  Webhooks,
  WebhookSigning,
} from '../../notifications/webhook-ports.ts';
import { AccessKey, ConfigKey, NotificationsKey, PostmanKey, WebhookCallsKey } from '../keys.ts';
import { onDemand } from '../on-demand.ts';
import { dashboardOrigin, destinationRules } from '../settings/addresses.ts';
import type { Config } from '../settings/settings.ts';
import { tracerOf } from '../tracing.ts';
import { tellingOf } from './system.ts';
import { wiring } from './wiring.ts';

export const notificationsModule = wiring((once, bind) => {
  once(Notices, (c) => new KyselyNotices(c.get(Database)));
  once(Mails, (c) => {
    const tell = tellingOf(c);
    return new KyselyMails(c.get(Database), {
      sealer: c.get(Sealer),
      ids: c.get(Ids),
      onAdded: (accountId) => {
        tell([accountId], true);
      },
    });
  });
  once(MailChoices, (c) => new KyselyMailChoices(c.get(Database)));
  once(Webhooks, (c) => new KyselyWebhooks(c.get(Database), c.get(KyselyOutbox), c.get(Sealer)));
  once(WebhookDeliveries, (c) => {
    const needs = { sealer: c.get(Sealer), ids: c.get(Ids) };
    return new KyselyWebhookDeliveries(c.get(Database), c.get(KyselyOutbox), needs);
  });
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
      chance: Math.random,
    }),
  );
});

type Settings = Pick<Config, 'smtpUrl' | 'mailFrom' | 'publicUrl'>;

/** Loads the mail package with the first message. */
const openPostman = (
  { smtpUrl, mailFrom: from, publicUrl }: Settings,
  tracer: Tracer | undefined,
): Postman | undefined => {
  if (smtpUrl === undefined || from === undefined) return undefined;
  const open = async (): Promise<Postman> => {
    const { SmtpPostman, smtpOptions } = await onDemand.mail();
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

export class KnownRecipients extends Recipients {
  readonly #people: Pick<People, 'list'>;
  readonly #accounts: Pick<Accounts, 'find'>;

  constructor(people: Pick<People, 'list'>, accounts: Pick<Accounts, 'find'>) {
    super();
    this.#people = people;
    this.#accounts = accounts;
  }

  override async of(accountId: string): Promise<readonly Recipient[]> {
    const people = await this.#people.list(accountId);
    const account = await this.#accounts.find(accountId);
    // Other addresses may be mistyped invitations.
    return people
      .filter(({ provenAt, email }) => provenAt !== undefined || email === account?.email)
      .map(({ id: personId, email: to }) => ({ personId, to }));
  }

  override async accountName(accountId: string): Promise<string> {
    const account = await this.#accounts.find(accountId);
    if (!account) throw new Error(`there is no account ${accountId}`);
    return account.name;
  }

  override async isInService(accountId: string): Promise<boolean> {
    const account = await this.#accounts.find(accountId);
    return account !== undefined && account.deletedAt === undefined;
  }
}
