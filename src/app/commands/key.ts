import { InvalidArgumentError } from 'commander';
import { scopes, type ApiKey, type Scope, isBanned, opens } from '../../access/domain/api-key.ts';
import type { EveryField } from '../../kernel/decision.ts';
import { type Overlap, overlaps } from '../../kernel/overlap.ts';
import { isDay } from '../../kernel/text.ts';
import { AccessKey, SitesKey } from '../keys.ts';
import {
  command,
  group,
  ofAccount,
  option,
  requireAccount,
  required,
  table,
} from './run-command.ts';

const scopeList = (text: string): readonly Scope[] =>
  text.split(',').map((part) => {
    const scope = scopes.find((known) => known === part.trim());
    if (!scope) throw new InvalidArgumentError(`Use a list of ${scopes.join(', ')}.`);
    return scope;
  });

const time = (text: string): Date => {
  const date = new Date(text);
  if (!isDay(text.slice(0, 10)) || Number.isNaN(date.getTime())) {
    throw new InvalidArgumentError('Use a time like 2027-01-31T12:00:00Z.');
  }
  return date;
};

const ofKey = required('--key <id>', 'id of the key');

interface CreateGiven {
  readonly account: string;
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly project?: string;
  readonly expires?: Date;
}

const create = command(
  'create an API key; its secret is shown once',
  [
    ofAccount,
    required('--name <name>', 'what the key is for'),
    option(
      '--scopes <list>',
      `any of ${scopes.join(',')}; all but deploys:write by default`,
    ).argParser(scopeList),
    option('--project <slug>', 'the only project that it may deploy to'),
    option(
      '--expires <time>',
      'when it expires, like 2027-01-31T12:00:00Z; never by default',
    ).argParser(time),
  ],
  async (container, given: CreateGiven) => {
    const issued = await container.get(AccessKey).createApiKey({
      accountId: given.account,
      name: given.name,
      ...(given.scopes && { scopes: given.scopes }),
      ...(given.project !== undefined && {
        projectId: await container.get(SitesKey).projectIdOf(given.account, given.project),
      }),
      ...(given.expires && { expiresAt: given.expires }),
    });
    return [
      { key: { ...presentKey(issued), secret: issued.secret } },
      `API key ${issued.id} (${issued.name}), shown this once:\n  ${issued.secret}`,
    ];
  },
);

const list = command(
  'list the API keys of an account, without their secrets',
  [ofAccount],
  async (container, { account }: { account: string }) => {
    await requireAccount(container, account);
    const keys = await container.get(AccessKey).listApiKeys(account);
    const heading = ['ID', 'NAME', 'KEY', 'SCOPES', 'LAST USED', 'STATE', 'PROJECT'];
    return [
      keys.map(presentKey),
      table(heading, keys.map(columnsOf), 'No API keys in this account.'),
    ];
  },
);

const rotate = command(
  'create a new secret for a key, shown once; the old one stays valid for the overlap',
  [
    ofKey,
    option('--overlap <time>', 'how long the old secret stays valid')
      .choices(Object.keys(overlaps))
      .default('24h'),
  ],
  async (container, { key, overlap }: { key: string; overlap: Overlap }) => {
    const issued = await container.get(AccessKey).rotateApiKey(key, overlap);
    return [
      { key: { ...presentKey(issued), secret: issued.secret } },
      `New secret of ${issued.id} (${issued.name}), shown this once:\n  ${issued.secret}\n` +
        (overlap === '0'
          ? 'The old one no longer works.'
          : `The old one works for ${overlap} more.`),
    ];
  },
);

const liftBan = command(
  'end the ban of a key now',
  [ofKey],
  async (container, { key }: { key: string }) => {
    const freed = await container.get(AccessKey).liftBan(key);
    return [presentKey(freed), `API key ${freed.id} (${freed.name}) is not banned.`];
  },
);

const revoke = command(
  'revoke an API key for good; every process refuses it within a second',
  [ofKey],
  async (container, { key }: { key: string }) => {
    const revoked = await container.get(AccessKey).revokeApiKey(key);
    return [presentKey(revoked), `API key ${revoked.id} (${revoked.name}) is revoked.`];
  },
);

export const keyCommands = group('key', 'create, rotate and revoke API keys', {
  create,
  list,
  rotate,
  'lift-ban': liftBan,
  revoke,
});

const columnsOf = (key: ApiKey) =>
  Object.values({
    id: key.id,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes.join(','),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? 'never',
    ban: state(key),
    projectId: key.projectId ?? 'all',
  } satisfies Omit<EveryField<ApiKey>, 'accountId' | 'createdAt' | 'expiresAt' | 'revokedAt'>);

const state = (key: ApiKey): string => {
  const { revokedAt, expiresAt } = key;
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt && !opens(key, new Date())) return `expired ${expiresAt.toISOString()}`;
  if (isBanned(key.ban, new Date())) return `banned until ${key.ban.until.toISOString()}`;
  return expiresAt ? `until ${expiresAt.toISOString()}` : 'valid';
};

const presentKey = (key: ApiKey) =>
  ({
    id: key.id,
    accountId: key.accountId,
    name: key.name,
    hint: key.hint,
    scopes: key.scopes,
    projectId: key.projectId ?? null,
    createdAt: key.createdAt,
    expiresAt: key.expiresAt ?? null,
    revokedAt: key.revokedAt ?? null,
    lastUsedAt: key.lastUsedAt ?? null,
    ban: key.ban ?? null,
  }) satisfies EveryField<ApiKey>;
