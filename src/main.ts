#!/usr/bin/env -S node --max-semi-space-size=16
import { Command, CommanderError } from 'commander';
import { accountCommands } from './app/commands/account.ts';
import { configCommands } from './app/commands/config.ts';
import { deployCommand } from './app/commands/deploy.ts';
import { domainCommands } from './app/commands/domain.ts';
import { keyCommands } from './app/commands/key.ts';
import { migrateCommands } from './app/commands/migrate.ts';
import { petCommands } from './app/commands/pet.ts';
import { projectCommands } from './app/commands/project.ts';
import { userCommands } from './app/commands/user.ts';
import { secretKeyCommands } from './app/commands/secret-key.ts';
import { serveCommand } from './app/commands/serve.ts';
import { ConfigFault } from './app/config.ts';
import { redaction } from './app/redaction.ts';
import { DomainError } from './kernel/domain-error.ts';

const failed = 1;
const wrongUsage = 2;

// What is made is for this user alone: keys, the database, deploys.
process.umask(0o077);

const program = new Command('animal-store')
  .description('A catalogue API for animal stores, and the sites they publish')
  .showHelpAfterError('(add --help for the options)')
  .exitOverride();

const groups = [
  serveCommand,
  migrateCommands,
  accountCommands,
  userCommands,
  keyCommands,
  petCommands,
  projectCommands,
  deployCommand,
  domainCommands,
  configCommands,
  secretKeyCommands,
];
for (const add of groups) add(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : wrongUsage;
  } else {
    const redact = redaction(process.env);
    process.stderr.write(`animal-store: ${redact(describe(error))}\n`);
    process.exitCode = failed;
  }
}

/** A refusal in its own words; anything else with its stack, since nobody foresaw it. */
function describe(error: unknown): string {
  if (error instanceof DomainError || error instanceof ConfigFault) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (process.env['LOG_LEVEL'] === 'debug') return error.stack ?? error.message;
  const { message, cause } = error;
  return message.endsWith('.') || !(cause instanceof Error)
    ? message
    : `${message}: ${cause.message}`;
}
