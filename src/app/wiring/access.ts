import type { Container } from 'inversify';
import { access } from '../../access/access.ts';
import {
  Accounts,
  ApiKeys,
  KeyMaterial,
  AuditLog,
  IdempotencyKeys,
  CounterSnapshots,
  HighUses,
  QuotaCounters,
  UsageLog,
} from '../../access/ports.ts';
import {
  MailRequests,
  PersonalMails,
  type MailedLink,
  type PersonalMail as Asked,
  Passkeys,
  Passwords,
  People,
  SecondFactors,
  Sessions,
  SignInLinks,
} from '../../access/people-ports.ts';
import { isNews } from '../../access/domain/mail-request.ts';
import { warnOfHighUse } from '../../access/use-cases/accounts.ts';
import { mailedLinkPath, newPasswordPath } from '../../adapters/dashboard/frame/paths.ts';
import { operationSunsets } from '../../adapters/http/operations/catalogue-operations.ts';
import { KyselyAccounts } from '../../adapters/kysely/access/kysely-accounts.ts';
import { KyselyApiKeys } from '../../adapters/kysely/access/kysely-api-keys.ts';
import { KyselyAuditLog } from '../../adapters/kysely/access/kysely-audit-log.ts';
import {
  KyselyCounterSnapshots,
  KyselyUsageLog,
} from '../../adapters/kysely/access/kysely-usage-log.ts';
import { KyselyIdempotencyKeys } from '../../adapters/kysely/access/kysely-idempotency-keys.ts';
import { KyselyMailRequests } from '../../adapters/kysely/access/kysely-mail-requests.ts';
import { KyselyPeople } from '../../adapters/kysely/access/kysely-people.ts';
import { KyselySecondFactors } from '../../adapters/kysely/access/kysely-second-factors.ts';
import { KyselySessions, KyselySignInLinks } from '../../adapters/kysely/access/kysely-sessions.ts';
import { Database } from '../../adapters/kysely/database.ts';
import { KyselyOutbox } from '../../adapters/kysely/kysely-outbox.ts';
import { MemoryQuotaCounters } from '../../adapters/memory/memory-quota-counters.ts';
import {
  CounterKeeper,
  HighUseReporter,
  UsageRecorder,
} from '../../adapters/metering/usage-recorder.ts';
import { WebAuthnPasskeys } from '../../adapters/passkeys/web-authn-passkeys.ts';
import { FailoverCounters } from '../../adapters/redis/failover-counters.ts';
import { apart, Acting, Clock, Deadline, Ids, Sealer } from '../../kernel/ports.ts';
import type { PersonalKind, NotificationContent } from '../../notifications/domain/notification.ts';
import type { PersonalMail } from '../../notifications/use-cases/mail.ts';
import {
  AccessKey,
  ConfigKey,
  LogKey,
  MetricsKey,
  NotificationsKey,
  RedisCountersKey,
} from '../keys.ts';
import { dashboardOrigin } from '../settings/addresses.ts';
import { shownTypes } from '../subscriptions.ts';
import { wiring } from './wiring.ts';

export const accessModule = wiring((once, bind) => {
  once(KyselyApiKeys, (c) => new KyselyApiKeys(c.get(Database), c.get(KyselyOutbox)));
  bind(ApiKeys).toService(KyselyApiKeys);
  once(KyselyPeople, (c) => new KyselyPeople(c.get(Database), c.get(KyselyOutbox)));
  bind(People).toService(KyselyPeople);
  once(Accounts, (c) => {
    const [apiKeys, people] = [c.get(KyselyApiKeys), c.get(KyselyPeople)];
    return new KyselyAccounts(c.get(Database), c.get(KyselyOutbox), { apiKeys, people });
  });
  once(Sessions, (c) => new KyselySessions(c.get(Database), c.get(KyselyOutbox)));
  once(SecondFactors, (c) => {
    const stored = [c.get(Database), c.get(KyselyOutbox)] as const;
    return new KyselySecondFactors(...stored, c.get(Sealer));
  });
  once(Passkeys, (c) => new WebAuthnPasskeys(dashboardOrigin(c.get(ConfigKey))));
  once(SignInLinks, (c) => new KyselySignInLinks(c.get(Database), c.get(KyselyOutbox)));
  once(MailRequests, (c) => new KyselyMailRequests(c.get(Database)));
  once(AuditLog, (c) => new KyselyAuditLog(c.get(Database), shownTypes));
  once(IdempotencyKeys, (c) => new KyselyIdempotencyKeys(c.get(Database)));
  once(CounterSnapshots, (c) => new KyselyCounterSnapshots(c.get(Database)));
  once(UsageLog, (c) => new KyselyUsageLog(c.get(Database)));

  bind(MemoryQuotaCounters).toConstantValue(new MemoryQuotaCounters());
  once(QuotaCounters, (c) => {
    const own = c.get(MemoryQuotaCounters);
    if (c.get(ConfigKey).redisUrl === undefined) return own;
    const log = c.get(LogKey);
    const metrics = c.get(MetricsKey, { optional: true });
    const shared = c.get(RedisCountersKey);
    return new FailoverCounters(shared, own, {
      onLocal: (local) => {
        metrics?.setCountsLocally(local);
        if (local) log.error('Redis is away: counting requests in this process for at most 60 s');
        else log.info('Redis is back: counting requests there');
      },
    });
  });
  once(
    CounterKeeper,
    (c) => new CounterKeeper(c.get(MemoryQuotaCounters), c.get(CounterSnapshots), c.get(Clock)),
  );
  once(HighUseReporter, (c) => {
    const ports = { accounts: c.get(Accounts), clock: c.get(Clock) };
    return new HighUseReporter(warnOfHighUse(ports));
  });
  bind(HighUses).toService(HighUseReporter);
  once(UsageRecorder, (c) => new UsageRecorder(c.get(UsageLog)));

  once(AccessKey, (c) => {
    const notifications = c.get(NotificationsKey);
    return access({
      accounts: c.get(Accounts),
      apiKeys: c.get(ApiKeys),
      keyMaterial: c.get(KeyMaterial),
      counters: c.get(QuotaCounters),
      highUses: c.get(HighUses),
      usage: c.get(UsageLog),
      people: c.get(People),
      sessions: c.get(Sessions),
      secondFactors: c.get(SecondFactors),
      passkeys: c.get(Passkeys),
      signInLinks: c.get(SignInLinks),
      mailRequests: c.get(MailRequests),
      personalMails: new BridgedPersonalMails((mail) => notifications.mailPerson(mail)),
      passwords: apart(c.get(Deadline), c.get(Passwords)),
      sealer: c.get(Sealer),
      acting: c.get(Acting),
      clock: c.get(Clock),
      ids: c.get(Ids),
      endings: [...operationSunsets].map(([operation, removedAt]) => ({ operation, removedAt })),
    });
  });
});

export const recallCounters = async (container: Container): Promise<void> => {
  if (container.get(ConfigKey).redisUrl === undefined) {
    await container.get(CounterKeeper).restore();
    return;
  }
  const redis = container.get(RedisCountersKey);
  await redis.ready();
  if (!redis.isAnswering) {
    container
      .get(LogKey)
      .warn(
        'Redis does not answer: this process counts requests alone for at most 60 s, and learns late ' +
          'what others store',
      );
  }
};

type MailPerson = (mail: PersonalMail) => Promise<boolean>;

/** Bridges to the mail queue, the only place that stores the secrets of links. */
class BridgedPersonalMails extends PersonalMails {
  readonly #mailPerson: MailPerson;

  constructor(mailPerson: MailPerson) {
    super();
    this.#mailPerson = mailPerson;
  }

  override async add(mail: Asked): Promise<void> {
    const { id, to } = mail;
    const { id: personId, accountId, email } = to.person;
    const isQueued = await this.#mailPerson({
      ...factsOf(mail),
      id,
      accountId,
      personId,
      to: email,
    });
    if (!isQueued) throw new Error('no mail server is set');
  }
}

type Facts = Extract<NotificationContent, { readonly kind: PersonalKind }>;

const factsOf = ({ reason, to, links, occurredAt }: Asked): Facts => {
  const linkOf = ({ account, secret }: MailedLink, next?: string) => ({
    account: account.name,
    path: mailedLinkPath(secret, next),
  });
  const { email } = to.person;
  const [first] = links;
  if (isNews(reason)) {
    const about = { email, account: to.account.name, changedAt: occurredAt.toISOString() };
    return {
      kind: reason === 'password_changed' ? 'password.changed' : 'second_factor.changed',
      about,
    };
  }
  if (!first) throw new Error(`a mail for ${reason} has no link`);
  const until = first.endsAt.toISOString();
  if (reason === 'invitation') {
    const { role } = to.person;
    return {
      kind: 'person.invited',
      about: { email, ...linkOf(first, newPasswordPath), until, role },
    };
  }
  const isForPassword = reason === 'new_password';
  const next = isForPassword ? newPasswordPath : undefined;
  const about = { email, links: links.map((one) => linkOf(one, next)), until, isForPassword };
  return { kind: 'sign_in.link', about };
};
