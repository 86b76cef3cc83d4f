import { expect, test } from '@jest/globals';
import bruno from '@usebruno/lang';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { printedPages } from '../../docs/pages/printed-pages.ts';
import { settings as declared } from '../../src/app/settings/settings.ts';
import { loadConfig } from '../../src/app/settings/config.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();
const prose = (path: string) => read(path).replace(/^```.*?^```/gms, '');

test.each(Object.entries(printedPages()))('docs/%s matches the code', (name, text) => {
  // If it is outdated, `make docs` prints it again.
  expect(read(`docs/${name}`)).toBe(text);
});

test.each(pages)('every link in %s leads to a file and heading that exist', (page) => {
  const links = [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? '');
  const own = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(own.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
});

test('the index of decisions links to every record once, by its title', () => {
  const rows = read('docs/decisions/README.md').matchAll(
    /^\| (\d+) +\| \[(.+)\]\((\w+\.md)#.+\)/gm,
  );
  const listed = [...rows].map(
    ([, number = '', title = '', file = '']) => `${file}: ${number}. ${title}`,
  );
  const files = globSync('docs/decisions/[a-z]*.md', { cwd: root }).sort();
  const records = files.flatMap((path) =>
    [...read(path).matchAll(/^## (\d+\. .+)$/gm)].map(
      ([, title = '']) => `${basename(path)}: ${title}`,
    ),
  );
  expect(records.length).toBeGreaterThan(20);
  expect(listed.toSorted()).toEqual(records.toSorted());
});

test('every picture is shown on a page, and together they are small', () => {
  const pictures = globSync('docs/**/*.{png,jpg,webp}', { cwd: root });
  const shown = pages.map(prose).join('\n');
  expect(pictures.filter((path) => !shown.includes(`/${basename(path)})`))).toEqual([]);
  const bytes = pictures.map((path) => statSync(join(root, path)).size);
  expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2 * 1024 * 1024);
});

test.each(pages)('a command in %s that retries prints no failed attempts', (page) => {
  const lines = read(page).match(/^ *curl .*--retry.*$/gm) ?? [];
  expect(lines.filter((line) => line.includes('--show-error'))).toEqual([]);
});

test.each(pages)('every path in %s exists', (page) => {
  const named = [...prose(page).matchAll(/`((?:bin|src|db|docs|test|bench)\/[^`\s…]+)`/g)];
  expect(
    named.map(([, path]) => path ?? '').filter((path) => !existsSync(join(root, path))),
  ).toEqual([]);
});

test.each(pages)('every file that %s names for a function or type contains it', (page) => {
  const found = [
    ...prose(page).matchAll(/`([A-Za-z]\w*)`\s+in\s+`((?:src|db|test)\/[^`\s]+\.ts)`/g),
  ];
  const isWrong = ([, name = '', path = '']: readonly string[]) => !read(path).includes(name);
  expect(found.filter(isWrong).map(([text]) => text)).toEqual([]);
});

test('docs/security.md names a test for every attack that it describes as prevented', () => {
  const [defended = ''] = read('docs/security.md').split('## What is not defended against');
  const lines = defended.split('\n').filter((line) => line.startsWith('- '));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !/`test\/[\w/-]+\.test\.ts`/.test(line))).toEqual([]);
});

const leadsSomewhere = (page: string, link: string): boolean => {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headings(target).includes(heading);
};

/** Anchors as the usual viewers form them: lower case, words joined by hyphens, no other characters. */
const headings = (page: string): readonly string[] =>
  [...prose(page).matchAll(/^#+ +(.+?) *$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const settings = [
  ...read('docs/settings.md').matchAll(/^\| `([A-Z0-9_]+)` +\| (?:`([^`]*)`|–) +\|/gm),
].map(([, name = '', byDefault]) => ({ name, byDefault }));

test('docs/settings.md lists all settings and nothing else', () => {
  expect(settings.map(({ name }) => name)).toEqual(Object.keys(declared));
});

test.each(settings.filter(({ byDefault }) => byDefault !== undefined))(
  '$name can be set to its default in docs/settings.md without any effect',
  ({ name, byDefault }) => {
    expect(loadConfig({ [name]: byDefault })).toEqual(loadConfig({}));
  },
);

test('Bruno reads its collection, which has one request for each operation and uses the key of the environment', () => {
  const files = globSync('docs/bruno/*.bru', { cwd: root }).filter(
    (path) => !path.endsWith('collection.bru'),
  );
  const requests = files.map((path) => bruno.bruToJsonV2(read(path)));
  const called = requests.map((one) => (one as { http: { method: string; url: string } }).http);
  expect(called.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
    'get {{base}}/pets',
    'get {{base}}/pets/:petId',
    'get {{base}}/store/orders',
    'post {{base}}/pets',
  ]);
  expect(bruno.collectionBruToJson(read('docs/bruno/collection.bru'))).toMatchObject({
    auth: { mode: 'bearer', bearer: { token: '{{key}}' } },
  });
  expect(bruno.bruToEnvJsonV2(read('docs/bruno/environments/Local.bru'))).toMatchObject({
    variables: [{ name: 'base' }, { name: 'key', secret: true }],
  });
});

test('docs/glossary.md is in alphabetical order', () => {
  const words = [...read('docs/glossary.md').matchAll(/^\*\*(.+?)\.\*\*/gm)].map(
    ([, word]) => word,
  );
  const order = new Intl.Collator('en', { sensitivity: 'base' });
  expect(words).toEqual([...words].sort((a = '', b = '') => order.compare(a, b)));
});
