import { Command } from 'commander';
import { version } from '../version.ts';
import { accountCommands } from './account.ts';
import { backupCommands } from './backup.ts';
import { configCommands } from './config.ts';
import { deployCommand } from './deploy.ts';
import { doctorCommand } from './doctor.ts';
import { domainCommands } from './domain.ts';
import { eventCommands } from './event.ts';
import { keyCommands } from './key.ts';
import { migrateCommands } from './migrate.ts';
import { moveCommand } from './move.ts';
import { orderCommands, petCommands } from './pet.ts';
import { platformCommands } from './platform.ts';
import { projectCommands } from './project.ts';
import { secretKeyCommands } from './secret-key.ts';
import { serveCommand } from './serve.ts';
import { userCommands } from './user.ts';

const groups = [
  serveCommand,
  migrateCommands,
  accountCommands,
  userCommands,
  keyCommands,
  petCommands,
  orderCommands,
  projectCommands,
  deployCommand,
  domainCommands,
  eventCommands,
  platformCommands,
  configCommands,
  doctorCommand,
  secretKeyCommands,
  backupCommands,
  moveCommand,
];

/** Every command; docs/commands.md is printed from it. */
export const animalStore = (): Command => {
  const program = new Command('animal-store')
    .description('A catalogue API for animal stores, and the sites they publish')
    .showHelpAfterError('(add --help for the options)')
    .exitOverride();
  for (const add of groups) add(program);
  addVersion(program, version());
  return program;
};

const addVersion = (command: Command, text: string): void => {
  command.version(text, '-V, --version', 'print the version');
  for (const inner of command.commands) addVersion(inner, text);
};
