import type { Argument, Command, Option } from 'commander';
import { animalStore } from '../../src/app/commands/program.ts';
import { code, page, printed, table } from './markdown.ts';

export const commandsPage = (): string =>
  page(
    '# Commands',
    printed('src/app/commands'),
    'One program is both the service and its tools. In a checkout it is `./animal-store`, in an installed package ' +
      '`npx animal-store`; these docs write `./animal-store`. `./animal-store COMMAND --help` explains every option.',
    table(['Command', 'What it does'], rowsOf(animalStore())),
    'Settings are [environment variables](settings.md). The commands use the database and the files ' +
      'directly: run them with the same settings as the service, as the same user. The service need not run.',
    '## For scripts',
    '- `--json` prints one JSON value for machines. All commands but `serve` and `domain config` take it.\n' +
      '- Exit code 0: done. 1: it failed, and standard error says why. 2: wrong usage.\n' +
      '- `--version` works with every command.\n' +
      '- On a terminal, long work shows a progress bar on standard error.',
    '`domain add`, `verify`, `show` and `remove` print one object: `domain` (with `host`, `state`, `project`, ' +
      '`accountId`, `dns`, `certificate` and more), `records`, `bind`, `hints`, `problems`, `health`, `budget`, `nextAt` ' +
      'and `timeline`. With `--pair`, `domain add` prints the same of the typed name, and `pair` with that of the other one, or `null` where there is none. `domain list` prints an array. Each entry has the same keys, except that the fields of `domain` ' +
      'are in the entry itself and `timeline` has only the last 5 entries.',
  );

const rowsOf = (command: Command, path: readonly string[] = []): (readonly string[])[] => {
  const inner = command.commands.flatMap((one) => rowsOf(one, [...path, one.name()]));
  // `backup` is a command and has one.
  const isOnlyGroup = inner.length > 0 && command.registeredArguments.length === 0;
  return isOnlyGroup ? inner : [rowOf(command, path), ...inner];
};

const rowOf = (command: Command, path: readonly string[]): readonly string[] => {
  const options = command.options.filter(({ long }) => long !== '--json' && long !== '--version');
  const words = [...path, ...command.registeredArguments.map(argument), ...options.map(option)];
  return [code(words.join(' ').replaceAll('|', '\\|')), sentence(command.description())];
};

const argument = (one: Argument): string => {
  const name = one.name().toUpperCase();
  return one.required ? name : `[${name}]`;
};

const option = ({ flags, mandatory }: Option): string => {
  const text = flags.replace(/<(.+)>/, (_, name: string) => name.toUpperCase());
  return mandatory ? text : `[${text}]`;
};

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
