import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  overlaps,
  scopes,
  type ApiKey,
  type Overlap,
  type Scope,
} from '../../access/domain/api-key.ts';
import { isBanned } from '../../access/domain/ban.ts';
import type { EveryField } from '../../kernel/every-field.ts';
import { AccessKey } from '../keys.ts';
import { print, table, withContainer, type OutputOptions } from './run-command.ts';

interface CreateOptions extends OutputOptions {
  readonly account: string;
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly expires?: Date;
}

export const keyCommands = (program: Command): void => {
  const key = program.command('key').description('create, rotate and revoke API keys');

  key
    .command('create')
    .description('create an API key; its secret is shown once')
    .requiredOption('--account <id>', 'id of the account')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scopes <list>', `any of ${scopes.join(',')}; all by default`, scopeList)
    .option('--expires <time>', 'when it expires, like 2027-01-31T12:00:00Z', time)
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
    .description('list the API keys of an account, without their secrets')
    .requiredOption('--account <id>', 'id of the account')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { account: string }) => {
      await withContainer(async (container) => {
        const keys = await container.get(AccessKey).listApiKeys(options.account);
        print(
          options,
          keys.map(presentKey),
          table(
            ['ID', 'NAME', 'KEY', 'SCOPES', 'LAST USED', 'STATE'],
            keys.map(columnsOf),
            'No API keys in this account.',
          ),
        );
      });
    });

  key
    .command('rotate')
    .description('make a new secret for a key, shown once; the old one stays valid for the overlap')
    .requiredOption('--key <id>', 'id of the key')
    .addOption(
      new Option('--overlap <time>', 'how long the old secret stays valid')
        .choices(Object.keys(overlaps))
        .default('24h'),
    )
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { key: string; overlap: Overlap }) => {
      await withContainer(async (container) => {
        const issued = await container.get(AccessKey).rotateApiKey(options.key, options.overlap);
        print(
          options,
          { key: { ...presentKey(issued), secret: issued.secret } },
          `New secret of ${issued.id} (${issued.name}), shown this once:\n  ${issued.secret}\n` +
            (options.overlap === '0'
              ? 'The old one does not work any more.'
              : `The old one works for ${options.overlap} more.`),
        );
      });
    });

  key
    .command('lift-ban')
    .description('end the ban of a key now')
    .requiredOption('--key <id>', 'id of the key')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { key: string }) => {
      await withContainer(async (container) => {
        const freed = await container.get(AccessKey).liftBan(options.key);
        print(options, presentKey(freed), `API key ${freed.id} (${freed.name}) is not banned.`);
      });
    });

  key
    .command('revoke')
    .description('revoke an API key for good; every process refuses it within a second')
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

/** The state follows from the ban, the expiry and the revocation. */
const columnsOf = (key: ApiKey) =>
  Object.values({
    ...{ id: key.id, name: key.name, hint: key.hint, scopes: key.scopes.join(',') },
    lastUsedAt: key.lastUsedAt?.toISOString() ?? 'never',
    ban: state(key),
  } satisfies Omit<EveryField<ApiKey>, 'accountId' | 'createdAt' | 'expiresAt' | 'revokedAt'>);

const state = (key: ApiKey): string => {
  if (key.revokedAt) return `revoked ${key.revokedAt.toISOString()}`;
  if (isBanned(key.ban, new Date())) return `banned until ${key.ban.until.toISOString()}`;
  return key.expiresAt ? `until ${key.expiresAt.toISOString()}` : 'valid';
};

const presentKey = (key: ApiKey) =>
  ({
    id: key.id,
    accountId: key.accountId,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
    revokedAt: key.revokedAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
    ban: key.ban ?? null,
  }) satisfies EveryField<ApiKey>;
