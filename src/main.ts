import { CommanderError } from 'commander';
import { animalStore } from './app/commands/program.ts';
import { ConfigFault } from './app/config.ts';
import { redaction } from './app/redaction.ts';
import { DomainError } from './kernel/domain-error.ts';

const failed = 1;
const wrongUsage = 2;

// What is made is for this user alone: keys, the database, deploys.
process.umask(0o077);

try {
  await animalStore().parseAsync();
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
