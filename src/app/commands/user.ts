import type { Person } from '../../access/domain/person.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { signInUrl } from '../settings/addresses.ts';
import { AccessKey, ConfigKey } from '../keys.ts';
import { group, command, ofAccount, required, table } from './run-command.ts';

const invite = command(
  'invite somebody, or give them a new link; prints a sign-in link that works once, for 7 days',
  [ofAccount, required('--email <email>', 'email address')],
  async (container, given: { account: string; email: string }) => {
    const { person, secret, endsAt } = await container
      .get(AccessKey)
      .inviteAnybody(given.account, given.email);
    const config = container.get(ConfigKey);
    const url = signInUrl(secret, config);
    const { id, email } = person;
    const mailed = config.smtpUrl === undefined ? '' : `\n${email} gets another link by mail.`;
    return [
      { user: { id, email }, signInUrl: url, endsAt },
      `${email} signs in with this link, once, until ${endsAt.toISOString()}:\n  ${url}${mailed}`,
    ];
  },
);

const list = command(
  'list who can sign in to an account',
  [ofAccount],
  async (container, { account }: { account: string }) => {
    const people = await container.get(AccessKey).listPeople(account);
    const rows = people.map(columnsOf);
    return [people.map(presentPerson), table(['ID', 'EMAIL', 'PASSWORD'], rows, 'Nobody yet.')];
  },
);

export const userCommands = group('user', 'manage who can sign in to the dashboard', {
  invite,
  list,
});

const presentPerson = ({ id, email, createdAt, passwordHash }: Person) =>
  ({ id, email, createdAt, hasPassword: passwordHash !== undefined }) satisfies Omit<
    EveryField<Person & { hasPassword: boolean }>,
    'accountId' | 'passwordHash' | 'joinedAt' | 'provenAt'
  >;

const columnsOf = ({ id, email, passwordHash }: Person) =>
  Object.values({
    id,
    email,
    passwordHash: passwordHash === undefined ? 'no' : 'yes',
  } satisfies Omit<EveryField<Person>, 'accountId' | 'createdAt' | 'joinedAt' | 'provenAt'>);
