import { CommanderError } from 'commander';
import { animalStore } from './app/commands/program.ts';
import { onDemand } from './app/on-demand.ts';
import { redaction } from './app/settings/redaction.ts';

const failed = 1;
const wrongUsage = 2;

/** Some parts are imported on demand, so a missing package may show only now. bin/animal-store.cjs reports it. */
const missingPackage = (error: unknown): Error | undefined => {
  if (!(error instanceof Error)) return undefined;
  const isMissing = 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  return isMissing ? error : missingPackage(error.cause);
};

// Only this user may read what we create: keys, the database and deploys.
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
    // A failed start must exit, even if something could not be closed in time.
    if (process.argv[2] === 'serve') process.exit();
  }
}
