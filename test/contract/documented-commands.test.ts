import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  documentedBlocks,
  commandsOfTheGuideTest,
  operatorBlocks,
  triedElsewhere,
  triedSections,
} from '../support/documented-commands.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const blocks = operatorBlocks().filter(({ language }) => language === 'sh');

test.each(Object.entries(triedSections))(
  'the commands under "%s" are run by %s',
  (heading, file) => {
    expect(blocks.map((block) => block.heading)).toContain(heading);
    // Commands of a sub-section belong to its section.
    const above = heading.startsWith('### ') ? '## In containers' : heading;
    expect(read(file)).toMatch(/documentedCommands\(/);
    expect(read(file)).toContain(`'${above}'`);
  },
);

test.each(Object.entries(triedElsewhere))('"%s" is run by %s', (command, file) => {
  expect(blocks.map(({ text }) => text.trim())).toContain(command);
  expect(read(file)).toContain(command.split('=')[0] ?? command);
});

test('the test that follows docs/install-fleet.md runs all its commands, even those that no other test runs', () => {
  const guide = read('test/release/guide.test.ts');
  const headings = documentedBlocks('docs/install-fleet.md').map(({ heading }) => heading);
  expect([...new Set(headings)].filter((one) => !guide.includes(`follow('${one}')`))).toEqual([]);
  expect(guide).toContain('of commandsOfTheGuideTest()) await shell.run(');
});

test('the guide test runs the commands of every section for operators', () => {
  expect(commandsOfTheGuideTest()).toContain('./animal-store key lift-ban --key ID');
  expect(commandsOfTheGuideTest()).toContain('animal-store event retry --all');
  expect(commandsOfTheGuideTest().filter((one) => one.includes('podman'))).toEqual([]);
});
