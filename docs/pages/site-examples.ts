import { matchPath, ServedFile } from '../../src/adapters/edge/served-file.ts';
import { isCompressible } from '../../src/adapters/storage/smaller-forms.ts';
import { DomainError } from '../../src/kernel/decision.ts';
import { inspectSite, type EntryKind } from '../../src/sites/domain/site-contents.ts';
import { code } from './markdown.ts';

// What the rules of sites say of one example after the other, found out by asking them.

export const entries = (): readonly (readonly string[])[] => {
  const asked: readonly (readonly [path: string, kind?: EntryKind, note?: string])[] = [
    ['index.html'],
    ['./img/rex.jpg'],
    ['.well-known/security.txt'],
    ['.git/config'],
    ['img/.DS_Store'],
    ['__MACOSX/index.html'],
    ['latest', 'link', ', a link'],
    ['../index.html'],
    ['/var/www/index.html'],
    ['img//rex.jpg'],
    ['img\\rex.jpg'],
  ];
  return asked.map(([path, kind = 'file', note = '']) => [code(path) + note, fate(path, kind)]);
};

const fate = (path: string, kind: EntryKind): string => {
  try {
    const published = inspectSite().admit(path, kind);
    return published === undefined ? 'skipped' : code(published);
  } catch (error) {
    if (error instanceof DomainError) return `refused: ${code(String(error.code))}`;
    throw error;
  }
};

export const siteFiles = ['index.html', 'about.html', 'img/rex.jpg', 'shop/index.html', '404.html'];

export const places = (): readonly (readonly string[])[] => {
  const asked = ['/', '/about', '/about.html?from=mail', '/shop/', '/shop?sort=price'];
  const wrong = ['/img/', '/About', '/nothing', '/shop/../', '/img%2Frex.jpg'];
  return [...asked, ...wrong].map((path) => [code(path), answerAt(path)]);
};

const answerAt = (path: string): string => {
  const match = matchPath(path, (file) => siteFiles.includes(file));
  switch (match.kind) {
    case 'file':
      return code(match.path);
    case 'folder':
      return `308 to ${code(match.location)}`;
    case 'missing':
      return '404 with `404.html`';
    case 'malformed':
      return '400';
  }
};

export const cacheControls = (): readonly (readonly string[])[] =>
  ['index.html', 'app.js', 'img/rex.jpg', 'assets/app-3f9a1c07.js', 'style.5RTNBVYZ.css'].map(
    (path) => [code(path), code(headersOf(path).get('Cache-Control') ?? '')],
  );

/** As the edge sends them, in their order. */
const headersOf = (path: string): ReadonlyMap<string, string> => {
  const hash = 'N9hahLIS_gQ6uuOZN5uHTYL0mr5GukB-695eUWoAZIU';
  const { forms } = new ServedFile({ path, bytes: 2200, hash, brotli: 412, gzip: 497 });
  const flat = forms.br?.headers ?? [];
  return new Map(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as const] : [])),
  );
};

export const exampleHeaders = (): readonly string[] =>
  [...headersOf('style.css')].map(([name, value]) => `${name.toLowerCase()}: ${value}`);

export const isSmaller = (ending: string): boolean => isCompressible(`file${ending}`);

export const endings =
  '.html .css .js .mjs .json .map .svg .xml .txt .md .csv .wasm .ttf .otf .ico .webmanifest .woff .woff2 .jpg .png .gif .webp .avif .mp4 .pdf .zip'.split(
    ' ',
  );
