import { InvalidArgumentError } from 'commander';
import {
  limitsOf,
  plans,
  type Limits,
  type Plan,
  type SiteLimits,
} from '../../access/domain/quota.ts';
import type { Account } from '../../access/domain/account.ts';
import { AuditLog } from '../../access/ports.ts';
import type { Usage } from '../../access/use-cases/accounts.ts';
import { dayMs } from '../../kernel/durations.ts';
import { Clock } from '../../kernel/ports.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { gib } from '../../sites/domain/project.ts';
import { allowanceOf } from '../plan-allowances.ts';
import { signInUrl } from '../settings/addresses.ts';
import { AccessKey, ConfigKey } from '../keys.ts';
import { onDemand } from '../on-demand.ts';
import type { Person } from '../../access/domain/person.ts';
import { type Role, roles } from '../../access/domain/role.ts';
import {
  command,
  type Define,
  group,
  ofAccount,
  option,
  requireAccount,
  required,
  table,
  wholeNumber,
} from './run-command.ts';

const planOption = () => option('--plan <plan>', 'plan of the account').choices(plans);

/** `retention` keeps usage for this long. */
const mostDays = 90;

const numberOfDays = (text: string): number => {
  const days = wholeNumber(text);
  if (days > mostDays)
    throw new InvalidArgumentError(`Usage is kept for ${String(mostDays)} days.`);
  return days;
};

const number = (flags: string, description: string) =>
  option(flags, description).argParser(wholeNumber);

const create = command(
  'create an account with a first API key, which is shown once, and a sign-in link',
  [
    required('--name <name>', 'name of the store'),
    required('--email <email>', "the owner's email address"),
    planOption().default('free'),
  ],
  async (container, given: { name: string; email: string; plan: Plan }) => {
    const { name, email, plan } = given;
    const { account, key } = await container.get(AccessKey).createAccount({ name, email, plan });
    const link = await container.get(AccessKey).signInLinkFor(account.email, account.id);
    const url = signInUrl(link.secret, container.get(ConfigKey));
    return [
      {
        account: presentAccount(account),
        key: { id: key.id, secret: key.secret },
        signInUrl: url,
      },
      `Account ${account.id} (${account.name}, plan ${account.plan}).\n` +
        `API key, shown this once:\n  ${key.secret}\n` +
        `Sign in to the dashboard with this link, once and within 15 minutes:\n  ${url}`,
    ];
  },
);

const list = command('list all accounts', [], async (container) => {
  const accounts = await container.get(AccessKey).listAccounts();
  return [
    accounts.map(presentAccount),
    table(['ID', 'NAME', 'PLAN', 'EMAIL', 'DELETED'], accounts.map(columnsOf), 'No accounts yet.'),
  ];
});

const restore = command(
  'restore an account that its owner deleted within the last 7 days',
  [ofAccount],
  async (container, { account }: { account: string }) => {
    const restored = await container.get(AccessKey).restoreAccount(account);
    return [
      presentAccount(restored),
      `Account ${restored.id} (${restored.name}) is restored. Its sites are served again once their DNS is checked.`,
    ];
  },
);

interface PlanGiven {
  readonly account: string;
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly projects?: number;
  readonly domains?: number;
  readonly storageGib?: number;
}

const changePlan = command(
  'move an account to another plan',
  [
    ofAccount,
    planOption().makeOptionMandatory(),
    number('--per-minute <number>', 'only for plan enterprise: requests a minute'),
    number('--per-day <number>', 'only for plan enterprise: requests a day'),
    number('--projects <number>', 'only for plan enterprise: projects'),
    number('--domains <number>', 'only for plan enterprise: custom domains'),
    number('--storage-gib <number>', 'only for plan enterprise: GiB of unpacked files'),
  ],
  async (container, { account, plan, perMinute, perDay, ...rest }: PlanGiven) => {
    const { projects, domains, storageGib } = rest;
    const requests =
      perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay };
    const sites = { projects, domains, storageGib };
    const changed = await container.get(AccessKey).setPlan(account, plan, { requests, sites });
    const { limits } = presentAccount(changed);
    return [
      presentAccount(changed),
      `Account ${changed.id} is on ${changed.plan}: ${String(limits.perMinute)} requests a minute, ` +
        `${String(limits.perDay)} a day; ${String(limits.projects)} projects, ` +
        `${String(limits.domains)} custom domains, ${String(limits.storageGib)} GiB of files.`,
    ];
  },
);

const setPlan: Define = (defined) => {
  changePlan(defined);
  defined.hook('preAction', () => {
    const { perMinute, perDay } = defined.opts<PlanGiven>();
    if ((perMinute === undefined) !== (perDay === undefined)) {
      defined.error('error: give --per-minute and --per-day together');
    }
  });
};

const usage = command(
  'show requests by the hour, what is left now, and keys that call deprecated operations',
  [
    ofAccount,
    option('--days <number>', `how many days back, at most ${String(mostDays)}`)
      .argParser(numberOfDays)
      .default(1),
  ],
  async (container, { account, days }: { account: string; days: number }) => {
    const { recallCounters } = await onDemand.maintenance();
    await recallCounters(container);
    const since = new Date(container.get(Clock).now().getTime() - days * dayMs);
    const shown = await container.get(AccessKey).showUsage(account, since);
    return [shown, describeUsage(shown)];
  },
);

const audit = command(
  'show the audit log of an account, newest first',
  [ofAccount],
  async (container, { account }: { account: string }) => {
    await requireAccount(container, account);
    const entries = await container.get(AuditLog).list(account, 1000);
    const rows = entries.map((entry) => [
      entry.occurredAt.toISOString(),
      entry.actor,
      entry.what,
      Object.values(entry.details).join(' '),
    ]);
    return [entries, table(['WHEN', 'WHO', 'WHAT', 'DETAILS'], rows, 'No entries yet.')];
  },
);

export const accountCommands = group('account', 'create and manage accounts', {
  create,
  list,
  'set-plan': setPlan,
  restore,
  usage,
  audit,
});

const describeUsage = ({ quota, hours, deprecated }: Usage): string => {
  const { window, limit, remaining, resetAt } = quota.speaks;
  const rows = hours.map((one) => [
    one.hour.toISOString().slice(0, 16),
    one.keyId,
    one.operation,
    one.outcome,
    String(one.requests),
  ]);
  return [
    `Left this ${window}: ${String(remaining)} of ${String(limit)}, until ${resetAt.toISOString()}.`,
    table(['HOUR (UTC)', 'KEY', 'OPERATION', 'OUTCOME', 'REQUESTS'], rows, 'No requests.'),
    ...deprecated.map(
      (one) =>
        `Key ${one.keyId} called ${one.operation}, which is deprecated, ${String(one.requests)} times.`,
    ),
  ].join('\n');
};

const columnsOf = ({ id, name, plan, email, deletedAt }: Account) =>
  Object.values({ id, name, plan, email, deletedAt: deletedAt?.toISOString() ?? '' } satisfies Omit<
    EveryField<Account>,
    'ownLimits' | 'siteLimits' | 'createdAt' | 'warnings' | 'factorDemandedAt'
  >);

const presentAccount = (account: Account) => {
  const { id, name, email, plan, ownLimits, siteLimits, createdAt, deletedAt } = account;
  const { projects, domains, storedBytes } = allowanceOf({ plan, siteLimits });
  const limits = {
    ...limitsOf(plan, ownLimits),
    projects,
    domains,
    storageGib: storedBytes / gib,
  } satisfies EveryField<Limits & SiteLimits>;
  return { id, name, email, plan, limits, createdAt, deletedAt } satisfies Omit<
    EveryField<Account & { limits: Limits }>,
    'ownLimits' | 'siteLimits' | 'warnings' | 'factorDemandedAt'
  >;
};

const invite = command(
  'invite somebody, or give them a new link; prints a sign-in link that works once, for 7 days',
  [
    ofAccount,
    required('--email <email>', 'email address'),
    option('--role <role>', 'what a new person may do').choices(roles).default('owner'),
  ],
  async (container, given: { account: string; email: string; role: Role }) => {
    const { person, secret, endsAt } = await container
      .get(AccessKey)
      .inviteAnybody(given.account, given.email, given.role);
    const config = container.get(ConfigKey);
    const url = signInUrl(secret, config);
    const { id, email, role } = person;
    const mailed = config.smtpUrl === undefined ? '' : `\n${email} gets another link by mail.`;
    return [
      { user: { id, email, role }, signInUrl: url, endsAt },
      `${email} signs in with this link, once, until ${endsAt.toISOString()}:\n  ${url}${mailed}`,
    ];
  },
);

const listUsers = command(
  'list who can sign in to an account',
  [ofAccount],
  async (container, { account }: { account: string }) => {
    await requireAccount(container, account);
    const people = await container.get(AccessKey).listPeople(account);
    const rows = people.map(personColumns);
    return [
      people.map(presentPerson),
      table(['ID', 'EMAIL', 'ROLE', 'PASSWORD', 'SECOND FACTOR'], rows, 'Nobody yet.'),
    ];
  },
);

const resetFactor = command(
  'remove the second factor and recovery codes of somebody who has lost them; they get a mail',
  [required('--email <email>', 'email address')],
  async (container, { email }: { email: string }) => {
    const people = await container.get(AccessKey).resetFactors(email);
    const accounts = await container.get(AccessKey).listAccounts();
    const those = accounts.filter(({ id }) => people.some(({ accountId }) => accountId === id));
    const names = those.map(({ name, id }) => `${name} (${id})`).join(', ');
    return [
      those.map(presentAccount),
      `${email} has no second factor any more in ${names}. They sign in with their password or a link.`,
    ];
  },
);

export const userCommands = group('user', 'manage who can sign in to the dashboard', {
  invite,
  list: listUsers,
  'reset-factor': resetFactor,
});

const presentPerson = (person: Person) => {
  const { id, name, email, role, createdAt, passwordHash, factorSince } = person;
  const [hasPassword, hasSecondFactor] = [passwordHash !== undefined, factorSince !== undefined];
  return { id, name, email, role, createdAt, hasPassword, hasSecondFactor } satisfies Omit<
    EveryField<Person & { hasPassword: boolean; hasSecondFactor: boolean }>,
    'accountId' | 'passwordHash' | 'joinedAt' | 'provenAt' | 'factorSince'
  >;
};

const personColumns = ({ id, email, role, passwordHash, factorSince }: Person) =>
  Object.values({
    id,
    email,
    role,
    passwordHash: passwordHash === undefined ? 'no' : 'yes',
    factorSince: factorSince ? 'yes' : 'no',
  } satisfies Omit<
    EveryField<Person>,
    'accountId' | 'name' | 'createdAt' | 'joinedAt' | 'provenAt'
  >);
