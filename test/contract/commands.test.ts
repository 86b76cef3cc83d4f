import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { animalStore, exampleOf } from '../../src/app/commands/program.ts';

const allBelow = (command: Command): readonly Command[] =>
  command.commands.flatMap((one) => [one, ...allBelow(one)]);

const isGroup = ({ commands, registeredArguments }: Command): boolean =>
  commands.length > 0 && registeredArguments.length === 0;

const leaves = allBelow(animalStore()).filter((command) => !isGroup(command));

test.each(leaves.map((command) => [exampleOf(command), command] as const))(
  'help shows the example "%s"',
  (example, command) => {
    expect(example).not.toContain('<');
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    expect(help).toContain(example);
  },
);
