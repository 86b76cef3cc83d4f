import { commandsInSentences, documentedBlocks } from '../documented-commands.ts';

/** Sections of docs/operations.md whose commands a test reads there, and runs. */
export const triedSections: Readonly<Record<string, string>> = {
  '## In containers': 'test/machines/containers.test.ts',
  '### One container': 'test/machines/containers.test.ts',
  '### Every role on its own, with compose': 'test/machines/containers.test.ts',
  '### Backups of containers': 'test/machines/containers.test.ts',
  '## From SQLite to MySQL': 'test/system/move.test.ts',
  '## With systemd': 'test/machines/systemd.test.ts',
  '## Upgrading': 'test/machines/systemd.test.ts',
};

/** Commands that tests run with values of their own. */
export const triedElsewhere: Readonly<Record<string, string>> = {
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 ./animal-store serve':
    'test/release/traces-faults.test.ts',
};

/** Questions to the system that have nothing of ours in them, by the programs that Debian may not have. */
const ofTheSystem = /^(?:dig|dmesg|iostat|ss) /;

/** What remains, so that a new command is run unless it is decided otherwise above. */
export const commandsOfTheGuideTest = (): readonly string[] => {
  const blocks = documentedBlocks('docs/operations.md').filter(
    ({ heading, language }) => language === 'sh' && !(heading in triedSections),
  );
  const fenced = blocks.flatMap(({ text }) =>
    text
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
