import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

interface DocumentedBlock {
  /** With its marks: `## In containers`. */
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

/** What stands in a fence with a language, in the order of the page. */
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

/** The shell blocks that stand under a heading of a page, until the next heading of its level or above. */
export const documentedCommands = (page: string, heading: string): readonly string[] => {
  const [, ...after] = readFileSync(join(root, page), 'utf8').split(`\n${heading}\n`);
  const [marks = ''] = heading.split(' ');
  const [section = ''] = after.join('').split(new RegExp(`^#{1,${marks.length}} `, 'm'));
  return [...section.matchAll(/^( *)```sh\n(.*?)^\1```/gms)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
};

/** Commands within the sentences of a page: what begins with one of these programs. */
export const commandsInSentences = (page: string): readonly string[] => {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^ *```.*?^ *```/gms, '');
  const programs = 'animal-store|curl|dig|df|dmesg|du|iostat|redis-cli|ss|systemctl|journalctl';
  const found = text.matchAll(new RegExp(`\`((?:\\./)?(?:${programs}) [^\`]+)\``, 'g'));
  return [...new Set([...found].map(([, command = '']) => command))];
};
