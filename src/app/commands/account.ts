import { Argument, Option, type Command } from 'commander';
import { plans, type Plan } from '../../access/domain/plan.ts';
import type { Account } from '../../access/domain/account.ts';
import { AuditLog } from '../../access/ports.ts';
import { AccessKey } from '../keys.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

export const accountCommands = (program: Command): void => {
  const account = program.command('account').description('open and look after accounts');

  account
    .command('create')
    .description('open an account with its first API key, which is shown once')
    .requiredOption('--name <name>', 'name of the store')
    .requiredOption('--email <email>', "the owner's e-mail address")
    .addOption(planOption().default('free'))
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { name: string; email: string; plan: Plan }) => {
      await withContainer(async (container) => {
        const { name, email, plan } = options;
        const opened = await container.get(AccessKey).createAccount({ name, email, plan });
        const { account: made, key } = opened;
        print(
          options,
          { account: presentAccount(made), key: { id: key.id, secret: key.secret } },
          `Account ${made.id} (${made.name}, plan ${made.plan}).\n` +
            `API key, shown this once:\n  ${key.secret}`,
        );
      });
    });

  account
    .command('list')
    .description('all accounts')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      await withContainer(async (container) => {
        const accounts = await container.get(AccessKey).listAccounts();
        const rows = accounts.map(({ id, name, plan, email }) => [id, name, plan, email]);
        print(
          options,
          accounts.map(presentAccount),
          table(['ID', 'NAME', 'PLAN', 'EMAIL'], rows, 'No accounts yet.'),
        );
      });
    });

  account
    .command('set-plan')
    .description('move an account to another plan')
    .requiredOption('--account <id>', 'id of the account')
    .addOption(planOption().makeOptionMandatory())
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string; plan: Plan }) => {
      await withContainer(async (container) => {
        const changed = await container.get(AccessKey).setPlan(options.account, options.plan);
        print(options, presentAccount(changed), `Account ${changed.id} is on ${changed.plan}.`);
      });
    });

  account
    .command('audit')
    .description('what happened in an account, newest first')
    .addArgument(new Argument('<account>', 'id of the account'))
    .option('--json', 'print JSON')
    .action(async (accountId: string, options: OutputOptions) => {
      await withContainer(async (container) => {
        const entries = await container.get(AuditLog).list(accountId, 1000);
        const rows = entries.map((entry) => [
          entry.occurredAt.toISOString(),
          entry.what,
          Object.values(entry.details).join(' '),
        ]);
        print(options, entries, table(['WHEN', 'WHAT', 'DETAILS'], rows, 'Nothing happened yet.'));
      });
    });
};

const planOption = () => new Option('--plan <plan>', 'plan of the account').choices(plans);

const presentAccount = ({ id, name, email, plan, createdAt }: Account) => ({
  id,
  name,
  email,
  plan,
  createdAt,
});
