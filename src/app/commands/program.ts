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

/** Contains every command. docs/commands.md is printed from it. */
export const animalStore = (): Command => {
  const program = new Command('animal-store')
    .description('A catalogue API for animal stores, and the sites they publish')
    .showHelpAfterError('(add --help for the options)')
    .exitOverride();
  for (const add of groups) add(program);
  addCommon(program, version());
  return program;
};

const addCommon = (command: Command, text: string): void => {
  command.version(text, '-V, --version', 'print the version');
  command.addHelpText('after', `\nExample:\n  ${exampleOf(firstCommand(command))}`);
  for (const inner of command.commands) addCommon(inner, text);
};

/** A group is shown by its first command; `backup` has subcommands, but is a command too. */
const firstCommand = (command: Command): Command => {
  const [first] = command.registeredArguments.length === 0 ? command.commands : [];
  return first ? firstCommand(first) : command;
};

/** Examples by the name of an argument or option, alone or after its command. */
const examples: Readonly<Record<string, string>> = {
  'account create --name': "'Happy Paws'",
  'project create --name': 'Birds',
  'key create --name': 'Till',
  'project roll-back --to': '3',
  'move --to': "'mysql://user:password@db.shop.example:3306/animal_store'",
  'event retry [id]': '4711',
  'domain primary [host]': 'shop.example.com',
  '--account': 'acct_01a1fdea95f774468d464ec5130a1f8f',
  '--key': 'key_01a1fdea95f774468d464ec5130a1f8f',
  '--email': 'owner@shop.example',
  '--plan': 'pro',
  '--project': 'birds',
  '--pet': '7',
  '--order': '3',
  '--number': '3',
  host: 'shop.example.com',
  source: './site',
  folder: '/mnt/backup',
};

export const exampleOf = (command: Command): string => {
  const path = pathOf(command);
  const valueOf = (name: string): string | undefined =>
    examples[`${path} ${name}`] ?? examples[name];
  const given = command.registeredArguments.flatMap((one) =>
    one.required
      ? [valueOf(one.name()) ?? `<${one.name()}>`]
      : (examples[`${path} [${one.name()}]`] ?? []),
  );
  const options = command.options.flatMap(({ long, mandatory }) => {
    const name = long ?? '';
    return mandatory ? [name, valueOf(name) ?? '<value>'] : [];
  });
  return ['animal-store', path, ...given, ...options].join(' ');
};

const pathOf = (command: Command): string => {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
};
