import { Command } from 'commander';
import { version } from '../version.ts';
import { accountCommands, userCommands } from './account.ts';
import { backupCommands, moveCommand } from './backup.ts';
import { configCommands, doctorCommand, platformCommands } from './doctor.ts';
import { domainCommands } from './domain.ts';
import { eventCommands } from './event.ts';
import { keyCommands } from './key.ts';
import { orderCommands, petCommands } from './pet.ts';
import { deployCommand, projectCommands } from './project.ts';
import { migrateCommands, secretKeyCommands, serveCommand } from './serve.ts';

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
