import type { Command } from 'commander';
import type { Person } from '../../access/domain/person.ts';
import type { EveryField } from '../../kernel/every-field.ts';
import { signInUrl } from '../settings/addresses.ts';
import { AccessKey, ConfigKey } from '../keys.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

interface UserOptions extends OutputOptions {
  readonly account: string;
}

export const userCommands = (program: Command): void => {
  const user = program.command('user').description('manage who can sign in to the dashboard');

  user
    .command('invite')
    .description(
      'invite somebody, or give them a new link; prints a sign-in link that works once, for 7 days',
    )
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--email <email>', 'email address')
    .option('--json', 'print JSON')
    .action(async (options: UserOptions & { email: string }) => {
      await withContainer(async (container) => {
        const access = container.get(AccessKey);
        const { person, secret, endsAt } = await access.inviteAnybody(
          options.account,
          options.email,
        );
        const url = signInUrl(secret, container.get(ConfigKey));
        const { id, email } = person;
        print(
          options,
          { user: { id, email }, signInUrl: url, endsAt },
          `${email} signs in with this link, once, until ${endsAt.toISOString()}:\n  ${url}`,
        );
      });
    });

  user
    .command('list')
    .description('list who can sign in to an account')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print JSON')
    .action(async (options: UserOptions) => {
      await withContainer(async (container) => {
        const people = await container.get(AccessKey).listPeople(options.account);
        const rows = people.map(columnsOf);
        print(
          options,
          people.map(presentPerson),
          table(['ID', 'EMAIL', 'PASSWORD'], rows, 'Nobody yet.'),
        );
      });
    });
};

const presentPerson = ({ id, email, createdAt, passwordHash }: Person) =>
  ({ id, email, createdAt, hasPassword: passwordHash !== undefined }) satisfies Omit<
    EveryField<Person & { hasPassword: boolean }>,
    'accountId' | 'passwordHash' | 'joinedAt'
  >;

const columnsOf = ({ id, email, passwordHash }: Person) =>
  Object.values({
    id,
    email,
    passwordHash: passwordHash === undefined ? 'no' : 'yes',
  } satisfies Omit<EveryField<Person>, 'accountId' | 'createdAt' | 'joinedAt'>);
