import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const root = join(import.meta.dirname, '../../src/adapters');
const texts = (...patterns: readonly string[]) =>
  globSync(patterns, { cwd: root })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const uncommented = (css: string) => css.replace(/\/\*[^]*?\*\//g, '');
const found = (text: string, pattern: RegExp) =>
  new Set([...text.matchAll(pattern)].map(([, name = '']) => name));
const missing = (wanted: ReadonlySet<string>, ...from: readonly ReadonlySet<string>[]) =>
  [...wanted].filter((one) => !from.some((names) => names.has(one)));

const sheets = texts('dashboard/**/*.css');
const css = uncommented(sheets.map(({ text }) => text).join('\n'));
const pages = texts('dashboard/**/*.{ts,js}')
  .map(({ text }) => text)
  .join('\n');

/** Class names that pages insert: tones, columns and steps, by their words in the code. */
const filledIn = new Set(
  ['good', 'busy', 'bad', 'idle', 'name', 'mono', 'actions', 'done', 'now', 'failed', 'tick']
    .concat(['limit', 'audit', 'tops', 'records', 'rows', 'select', 'extra', 'line'])
    .concat(['2xx', '3xx', '4xx', '5xx', 'refused'].map((outcome) => `outcome-${outcome}`)),
);
/** Class names in attributes, including words within holes: `class="card ${isOwn ? 'own' : ''}"`. */
const written = new Set(
  [...found(pages, /class="([^"]*)"/g)].flatMap((names) => {
    const inHoles = [...names.matchAll(/'([^']*)'/g)].map(([, words = '']) => words);
    const outside = names.replace(/[\w-]*\$\{.*\}[\w-]*/g, ' ');
    return [outside, ...inHoles].join(' ').split(/\s+/).filter(Boolean);
  }),
);
const styled = found(css, /\.(-?[a-z][\w-]*)/g);

describe('the stylesheets of the dashboard', () => {
  test('style only classes that some page uses', () => {
    expect(missing(styled, written, filledIn)).toEqual([]);
  });

  test('style every class that a page uses', () => {
    expect(missing(written, styled)).toEqual([]);
    expect(missing(filledIn, styled)).toEqual([]);
  });

  test('are all served', () => {
    const served = texts('dashboard/frame/responses.ts').map(({ text }) => text);
    const names = sheets.map(({ path }) => basename(path));
    expect(names.filter((name) => !served.join('').includes(`/${name}'`))).toEqual([]);
  });
});

describe.each(['dashboard/**/*.css', 'http/**/*.css'])('%s', (pattern) => {
  const all = uncommented(
    texts(pattern)
      .map(({ text }) => text)
      .join('\n'),
  );
  const [tokens = ''] = /:root \{[^]*?\n\}/.exec(all) ?? [];

  test('uses colours, and sizes other than 1px, only in its tokens', () => {
    const rules = all.replace(tokens, '').replace(/@media[^{]*/g, '');
    expect(rules.match(/#[\da-f]{3,8}\b|rgb|hsl|\b(?!1px)[\d.]+(?:px|rem|pt)\b/gi)).toBeNull();
  });

  test('defines every token that it uses, and uses every one that it defines', () => {
    const used = found(all, /var\((--[\w-]+)/g);
    expect(missing(used, found(all, /(--[\w-]+):/g))).toEqual([]);
    expect(missing(found(tokens, /(--[\w-]+):/g), used)).toEqual([]);
  });
});
