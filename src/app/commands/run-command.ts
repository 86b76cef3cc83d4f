import { Argument, Option, type Command } from 'commander';
import type { Container } from 'inversify';
import { onDemand } from '../on-demand.ts';
import { terminalJson, terminalText } from './terminal-text.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

/** One JSON value for machines, and text for people. */
export type Answer = readonly [value: unknown, text: string];

/** Makes a command of an empty one. */
export type Define = (command: Command) => void;

/** Commands by name, under one first word. */
export const group =
  (name: string, description: string, commands: Readonly<Record<string, Define>>): Define =>
  (program) => {
    const parent = program.command(name).description(description);
    for (const [own, define] of Object.entries(commands)) define(parent.command(own));
  };

/** A command with `--json` that opens the container, prints its answer and closes the container. */
export const command =
  <Given extends object>(
    description: string,
    takes: readonly (Argument | Option)[],
    answer: (container: Container, given: Given & OutputOptions) => Promise<Answer>,
  ): Define =>
  (defined) => {
    defined.description(description);
    for (const one of takes) {
      if (one instanceof Argument) defined.addArgument(one);
      else defined.addOption(one);
    }
    defined.option('--json', 'print JSON').action(async () => {
      const given = { ...argumentsOf(defined), ...defined.opts<Given & OutputOptions>() };
      await withContainer(async (container) => {
        print(given, ...(await answer(container, given)));
      });
    });
  };

const argumentsOf = ({ registeredArguments, processedArgs }: Command) =>
  Object.fromEntries(registeredArguments.map((one, at) => [one.name(), processedArgs[at]]));

export const option = (flags: string, description: string): Option =>
  new Option(flags, description);

export const required = (flags: string, description: string): Option =>
  option(flags, description).makeOptionMandatory();

export const ofAccount = required('--account <id>', 'id of the account');
export const ofProject = required('--project <slug>', 'slug of the project');

/** Opens the container for one short command, and always closes it. Help prints without loading it. */
export const withContainer = async <T>(work: (container: Container) => Promise<T>): Promise<T> => {
  const { openForCommand } = await onDemand.container();
  const container = await openForCommand();
  try {
    return await work(container);
  } finally {
    await container.unbindAllAsync();
  }
};

export const print = ({ json }: OutputOptions, value: unknown, text: string): void => {
  const shown = json ? terminalJson(JSON.stringify(value, plain)) : terminalText(text);
  process.stdout.write(`${shown}\n`);
};

const plain = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

/** Aligned columns with a heading; says so when there is nothing. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  nothing: string,
): string => {
  if (rows.length === 0) return nothing;
  const all = [heading, ...rows];
  const widths = heading.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
