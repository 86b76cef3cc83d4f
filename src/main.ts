import { CommanderError } from 'commander';
import { animalStore } from './app/commands/program.ts';
import { onDemand } from './app/on-demand.ts';
import { redaction } from './app/settings/redaction.ts';

const failed = 1;
const wrongUsage = 2;

/** Found missing only now, because some parts are imported on demand. bin/animal-store.cjs says so. */
const missingPackage = (error: unknown): Error | undefined => {
  if (!(error instanceof Error)) return undefined;
  const isMissing = 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing ? error : missingPackage(error.cause);
};

// What is made is for this user alone: keys, the database, deploys.
process.umask(0o077);

try {
  await animalStore().parseAsync();
} catch (error) {
  const missing = missingPackage(error);
  if (missing) throw missing;
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : wrongUsage;
  } else {
    const { failureInWords } = await onDemand.maintenance();
    const redact = redaction(process.env);
    process.stderr.write(`animal-store: ${redact(failureInWords(error, process.env))}\n`);
    process.exitCode = failed;
    // Whatever could not be closed in time does not keep a failed start alive.
    if (process.argv[2] === 'serve') process.exit();
  }
}
