import type { Argument, Command, Option } from 'commander';
import { animalStore } from '../../src/app/commands/program.ts';
import { code, type Printed, table } from './markdown.ts';

export const commandTables = (): Readonly<Record<string, Printed>> => ({
  commands: table(['Command', 'What it does'], rowsOf(animalStore())),
});

const rowsOf = (command: Command, path: readonly string[] = []): (readonly string[])[] => {
  const inner = command.commands.flatMap((one) => rowsOf(one, [...path, one.name()]));
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
