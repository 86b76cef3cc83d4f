import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

interface DocumentedBlock {
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

/** Code blocks with a language, in the order of the page. */
export const documentedBlocks = (page: string): readonly DocumentedBlock[] => {
  const text = readFileSync(join(root, page), 'utf8');
  let heading = '';
  return [...text.matchAll(/^(#{1,4} [^\n]+)|^( *)```(\w+)\n(.*?)^\2```/gms)].flatMap((found) => {
    const [, title, indent = '', language = '', block = ''] = found;
    heading = title ?? heading;
    if (title !== undefined) return [];
    return [{ heading, language, text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }];
  });
};

/** The shell blocks below a heading of a page, until the next heading of its level or above. */
export const documentedCommands = (page: string, heading: string): readonly string[] => {
  const [, ...after] = readFileSync(join(root, page), 'utf8').split(`\n${heading}\n`);
  const [marks = ''] = heading.split(' ');
  const [section = ''] = after.join('').split(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return [...section.matchAll(/^( *)```sh\n(.*?)^\1```/gms)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
};

/** Commands within the sentences of a page, recognised by these programs at their beginning. */
const commandsInSentences = (page: string): readonly string[] => {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^ *```.*?^ *```/gms, '');
  const programs = 'animal-store|curl|dig|df|dmesg|du|iostat|redis-cli|ss|systemctl|journalctl';
  const found = text.matchAll(new RegExp(`\`((?:\\./)?(?:${programs}) [^\`]+)\``, 'g'));
  return [...new Set([...found].map(([, command = '']) => command))];
};

/** The pages for operators whose commands are run, in reading order. */
const operatorPages = [
  ...['settings', 'running', 'containers-and-systemd', 'databases', 'backups', 'upgrades'],
  ...['accounts-and-mail', 'edge', 'certificates-and-dns'],
].map((name) => `docs/${name}.md`);

export const operatorBlocks = (): readonly DocumentedBlock[] =>
  operatorPages.flatMap(documentedBlocks);

/** Sections of these pages whose commands a test reads and runs. */
export const triedSections: Readonly<Record<string, string>> = {
  '## In containers': 'test/machines/containers.test.ts',
  '### One container': 'test/machines/containers.test.ts',
  '### Every role on its own, with compose': 'test/machines/containers.test.ts',
  '### Backups of containers': 'test/machines/containers.test.ts',
  '## From SQLite to MySQL': 'test/system/move.test.ts',
  '## With systemd': 'test/machines/systemd.test.ts',
  '## Upgrading': 'test/machines/systemd.test.ts',
};

/** Commands that tests run with different values. */
export const triedElsewhere: Readonly<Record<string, string>> = {
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 ./animal-store serve':
    'test/system/what-is-imported.test.ts',
};

/** Commands about the system that do not concern us, by programs that Debian may not have. */
const ofTheSystem = /^(?:dig|dmesg|iostat|ss) /;

/** The remaining commands, so that a new command is run unless it is listed above. */
export const commandsOfTheGuideTest = (): readonly string[] => {
  const blocks = operatorBlocks().filter(
    ({ heading, language }) => language === 'sh' && !(heading in triedSections),
  );
  const fenced = blocks.flatMap(({ text }) =>
    text
      .replaceAll(/ *\\\n */g, ' ')
      .replaceAll(/ +#.*$/gm, '')
      .trim()
      .split('\n'),
  );
  const runbook = [
    ...commandsInSentences('docs/runbook.md'),
    ...documentedBlocks('docs/runbook.md').map(({ text }) => text),
  ];
  return [...fenced, ...runbook].filter(
    (command) => !(command in triedElsewhere) && !ofTheSystem.test(command),
  );
};
