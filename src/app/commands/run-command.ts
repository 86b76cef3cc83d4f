import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import type { Container } from 'inversify';
import { SingleBar } from 'cli-progress';
import { accountNotFound } from '../../access/domain/access-error.ts';
import { AccessKey } from '../keys.ts';
import { onDemand } from '../on-demand.ts';
import { loadConfig } from '../settings/config.ts';
import type { Config } from '../settings/settings.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

/** A result as one JSON value for machines, and as text for people. */
export type Answer = readonly [value: unknown, text: string];

export type Define = (command: Command) => void;

export const group =
  (name: string, description: string, commands: Readonly<Record<string, Define>>): Define =>
  (program) => {
    const parent = program.command(name).description(description);
    for (const [own, define] of Object.entries(commands)) define(parent.command(own));
  };

/** Opens the container only when a command runs, so that help prints without it. */
export const withContainer = async <T>(work: (container: Container) => Promise<T>): Promise<T> => {
  const { openForCommand } = await onDemand.container();
  const container = await openForCommand();
  try {
    return await work(container);
  } finally {
    await container.unbindAllAsync();
  }
};

type Work<Opened> = (opened: Opened) => Promise<void>;

const commandWith =
  <Opened>(open: (work: Work<Opened>) => Promise<void>) =>
  <Given extends object>(
    description: string,
    takes: readonly (Argument | Option)[],
    answer: (opened: Opened, given: Given & OutputOptions) => Promise<Answer>,
  ): Define =>
  (defined) => {
    defined.description(description);
    for (const one of takes) {
      if (one instanceof Argument) defined.addArgument(one);
      else defined.addOption(one);
    }
    defined.option('--json', 'print JSON').action(async () => {
      const options = defined.optsWithGlobals<Given & OutputOptions>();
      const given = { ...argumentsOf(defined), ...options };
      await open(async (opened) => {
        print(given, ...(await answer(opened, given)));
      });
    });
  };

export const command = commandWith<Container>(withContainer);

export const commandOfSettings = commandWith<Config>((work) => work(loadConfig(process.env)));

export const bareCommand = commandWith<undefined>((work) => work(undefined));

const argumentsOf = ({ registeredArguments, processedArgs }: Command) =>
  Object.fromEntries(registeredArguments.map((one, at) => [one.name(), processedArgs[at]]));

export const option = (flags: string, description: string): Option =>
  new Option(flags, description);

export const required = (flags: string, description: string): Option =>
  option(flags, description).makeOptionMandatory();

export const wholeNumber = (text: string): number => {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.');
  return Number(text);
};

export const ofAccount = required('--account <id>', 'id of the account');
export const ofProject = required('--project <slug>', 'slug of the project');

/** An unknown account is a mistake, not an empty list. @throws DomainError `account_not_found` */
export const requireAccount = async (container: Container, id: string): Promise<void> => {
  const accounts = await container.get(AccessKey).listAccounts();
  if (!accounts.some((account) => account.id === id)) throw accountNotFound(id);
};

export const print = ({ json }: OutputOptions, value: unknown, text: string): void => {
  const shown = json ? terminalJson(JSON.stringify(value, plain)) : terminalText(text);
  process.stdout.write(`${shown}\n`);
};

const plain = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;

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

export type ShowProgress = (step: string, done: number, total: number | undefined) => void;

/** Shows progress on standard error, so that the result can be piped. */
export const progressOf = async <T>(
  { json }: OutputOptions,
  work: (show: ShowProgress) => Promise<T>,
): Promise<T> => {
  if (json) return work(() => undefined);
  const bar = new SingleBar({
    format: '{step} [{bar}] {value}{of}',
    stream: process.stderr,
    noTTYOutput: false,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(1, 0, { step: '', of: '' });
  try {
    return await work((step, done, total) => {
      bar.setTotal(total ?? done);
      bar.update(done, { step, of: total === undefined ? '' : ` of ${String(total)}` });
    });
  } finally {
    bar.stop();
  }
};

/** Characters that control a terminal (ECMA-48, including U+0080 to U+009F), or that reorder text. */
const commands = /(?!\n)\p{Cc}|\p{Bidi_Control}/gu;

/** Prevents customers' data and their DNS from controlling an operator's terminal. */
export const terminalText = (text: string): string => text.replace(commands, '\u{fffd}');

/** Does the same for one line of JSON without changing its values. */
export const terminalJson = (json: string): string =>
  json.replace(commands, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
