import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import { limitsOf, plans, type Limits, type Plan } from '../../access/domain/plan.ts';
import type { Account } from '../../access/domain/account.ts';
import { AuditLog } from '../../access/ports.ts';
import type { Usage } from '../../access/use-cases/show-usage.ts';
import { Clock } from '../../kernel/clock.ts';
import type { EveryField } from '../../kernel/every-field.ts';
import { signInUrl } from '../settings/addresses.ts';
import { AccessKey, ConfigKey } from '../keys.ts';
import { recallCounters } from '../known-counters.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

export const accountCommands = (program: Command): void => {
  const account = program.command('account').description('create and manage accounts');

  account
    .command('create')
    .description('create an account with a first API key, which is shown once, and a sign-in link')
    .requiredOption('--name <name>', 'name of the store')
    .requiredOption('--email <email>', "the owner's e-mail address")
    .addOption(planOption().default('free'))
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { name: string; email: string; plan: Plan }) => {
      await withContainer(async (container) => {
        const { name, email, plan } = options;
        const opened = await container.get(AccessKey).createAccount({ name, email, plan });
        const { account: made, key } = opened;
        const link = await container.get(AccessKey).signInLinkFor(made.email, made.id);
        const url = signInUrl(link.secret, container.get(ConfigKey));
        print(
          options,
          {
            account: presentAccount(made),
            key: { id: key.id, secret: key.secret },
            signInUrl: url,
          },
          `Account ${made.id} (${made.name}, plan ${made.plan}).\n` +
            `API key, shown this once:\n  ${key.secret}\n` +
            `Sign in to the dashboard with this link, once and within 15 minutes:\n  ${url}`,
        );
      });
    });

  account
    .command('list')
    .description('list all accounts')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      await withContainer(async (container) => {
        const accounts = await container.get(AccessKey).listAccounts();
        print(
          options,
          accounts.map(presentAccount),
          table(['ID', 'NAME', 'PLAN', 'EMAIL'], accounts.map(columnsOf), 'No accounts yet.'),
        );
      });
    });

  account
    .command('set-plan')
    .description('move an account to another plan')
    .requiredOption('--account <id>', 'id of the account')
    .addOption(planOption().makeOptionMandatory())
    .option('--per-minute <number>', 'only for plan enterprise: requests a minute', wholeNumber)
    .option('--per-day <number>', 'only for plan enterprise: requests a day', wholeNumber)
    .option('--json', 'print JSON')
    .action(async (options: PlanOptions) => {
      const { account: id, plan, perMinute, perDay } = options;
      if ((perMinute === undefined) !== (perDay === undefined)) {
        account.error('error: give --per-minute and --per-day together');
      }
      const ownLimits =
        perMinute === undefined || perDay === undefined ? undefined : { perMinute, perDay };
      await withContainer(async (container) => {
        const changed = await container.get(AccessKey).setPlan(id, plan, ownLimits);
        const limits = limitsOf(changed.plan, changed.ownLimits);
        print(
          options,
          presentAccount(changed),
          `Account ${changed.id} is on ${changed.plan}: ${String(limits.perMinute)} requests a minute, ` +
            `${String(limits.perDay)} a day.`,
        );
      });
    });

  account
    .command('usage')
    .description(
      'show requests by the hour, what is left now, and keys that call deprecated operations',
    )
    .requiredOption('--account <id>', 'id of the account')
    .option('--days <number>', 'how many days back, at most 90', wholeNumber, 1)
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string; days: number }) => {
      await withContainer(async (container) => {
        await recallCounters(container);
        const since = new Date(container.get(Clock).now().getTime() - options.days * 86_400_000);
        const usage = await container.get(AccessKey).showUsage(options.account, since);
        print(options, usage, describeUsage(usage));
      });
    });

  account
    .command('audit')
    .description('show the audit log of an account, newest first')
    .addArgument(new Argument('<account>', 'id of the account'))
    .option('--json', 'print JSON')
    .action(async (accountId: string, options: OutputOptions) => {
      await withContainer(async (container) => {
        const entries = await container.get(AuditLog).list(accountId, 1000);
        const rows = entries.map((entry) => [
          entry.occurredAt.toISOString(),
          entry.actor,
          entry.what,
          Object.values(entry.details).join(' '),
        ]);
        print(options, entries, table(['WHEN', 'WHO', 'WHAT', 'DETAILS'], rows, 'No entries yet.'));
      });
    });
};

interface PlanOptions extends OutputOptions {
  readonly account: string;
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly perDay?: number;
}

const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.');
  return Number(text);
};

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

const planOption = () => new Option('--plan <plan>', 'plan of the account').choices(plans);

const columnsOf = ({ id, name, plan, email }: Account) =>
  Object.values({ id, name, plan, email } satisfies Omit<
    EveryField<Account>,
    'ownLimits' | 'createdAt'
  >);

const presentAccount = ({ id, name, email, plan, ownLimits, createdAt }: Account) => {
  const limits = limitsOf(plan, ownLimits);
  return { id, name, email, plan, limits, createdAt } satisfies Omit<
    EveryField<Account & { limits: Limits }>,
    'ownLimits'
  >;
};
