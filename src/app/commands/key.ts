import { InvalidArgumentError, type Command } from 'commander';
import { scopes, type ApiKey, type Scope } from '../../access/domain/api-key.ts';
import { AccessKey } from '../keys.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

interface CreateOptions extends OutputOptions {
  readonly account: string;
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly expires?: Date;
}

export const keyCommands = (program: Command): void => {
  const key = program.command('key').description('issue and revoke API keys');

  key
    .command('create')
    .description('issue an API key; its secret is shown once')
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scopes <list>', `any of ${scopes.join(',')}; all by default`, scopeList)
    .option('--expires <time>', 'when it stops working, like 2027-01-31T12:00:00Z', time)
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      await withContainer(async (container) => {
        const issued = await container.get(AccessKey).createApiKey({
          accountId: options.account,
          name: options.name,
          ...(options.scopes && { scopes: options.scopes }),
          ...(options.expires && { expiresAt: options.expires }),
        });
        print(
          options,
          { key: { ...presentKey(issued), secret: issued.secret } },
          `API key ${issued.id} (${issued.name}), shown this once:\n  ${issued.secret}`,
        );
      });
    });

  key
    .command('list')
    .description('the API keys of an account, without their secrets')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string }) => {
      await withContainer(async (container) => {
        const keys = await container.get(AccessKey).listApiKeys(options.account);
        const rows = keys.map((one) => [
          one.id,
          one.name,
          one.hint,
          one.scopes.join(','),
          state(one),
        ]);
        print(
          options,
          keys.map(presentKey),
          table(['ID', 'NAME', 'KEY', 'SCOPES', 'STATE'], rows, 'No API keys in this account.'),
        );
      });
    });

  key
    .command('revoke')
    .description('stop an API key for good, within a second in every process')
    .requiredOption('--key <id>', 'id of the key')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { key: string }) => {
      await withContainer(async (container) => {
        const revoked = await container.get(AccessKey).revokeApiKey(options.key);
        print(options, presentKey(revoked), `API key ${revoked.id} (${revoked.name}) is revoked.`);
      });
    });
};

const scopeList = (text: string): readonly Scope[] =>
  text.split(',').map((part) => {
    const scope = scopes.find((known) => known === part.trim());
    if (!scope) throw new InvalidArgumentError(`Use a list of ${scopes.join(', ')}.`);
    return scope;
  });

const time = (text: string): Date => {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('Use a time like 2027-01-31T12:00:00Z.');
  }
  return date;
};

const state = (key: ApiKey): string => {
  if (key.revokedAt) return `revoked ${key.revokedAt.toISOString()}`;
  return key.expiresAt ? `until ${key.expiresAt.toISOString()}` : 'valid';
};

const presentKey = (key: ApiKey) => ({
  id: key.id,
  accountId: key.accountId,
  name: key.name,
  hint: key.hint,
  scopes: key.scopes,
  createdAt: key.createdAt,
  expiresAt: key.expiresAt ?? null,
  revokedAt: key.revokedAt ?? null,
});
