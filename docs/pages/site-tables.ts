import { matchPath, ServedFile } from '../../src/adapters/edge/served-file.ts';
import { isCompressible } from '../../src/adapters/storage/smaller-forms.ts';
import { DomainError } from '../../src/kernel/decision.ts';
import {
  SiteInspection,
  siteLimits,
  type EntryKind,
} from '../../src/sites/domain/site-contents.ts';
import { uploadProblems } from '../../src/sites/domain/sites-error.ts';
import { byHand, code, fenced, list, type Printed, table } from './markdown.ts';

export const siteTables = (): Readonly<Record<string, Printed>> => ({
  limits: table(['What', 'Limit'], limits),
  entries: table(['Entry', 'Published as'], entries()),
  refusals: table(
    ['Code', 'Meaning', 'What to do'],
    uploadProblems.map((problem) => [code(problem), byHand, byHand]),
  ),
  places: table(['Path', 'Answer'], places()),
  caching: table(['File', '`Cache-Control`'], cacheControls()),
  compression: table(
    ['Compressed', 'Not compressed'],
    [[list(endings.filter(isSmaller)), list(endings.filter((ending) => !isSmaller(ending)))]],
  ),
  headers: fenced(['HTTP/2 200', ...exampleHeaders()]),
});

const mib = (bytes: number) => `${String(bytes / 1024 / 1024)} MiB`;

const limits: readonly (readonly string[])[] = [
  ['files and folders, including folders that only appear in paths', String(siteLimits.entries)],
  ['all published files, unpacked', mib(siteLimits.bytes)],
  ['a path, in UTF-8', `${String(siteLimits.pathBytes)} bytes`],
  ['a name in it', `${String(siteLimits.nameBytes)} bytes`],
  ['nesting of folders', String(siteLimits.folders)],
];

// The tables show the results of the site rules for one example each.

const entries = (): readonly (readonly string[])[] => {
  const asked: readonly (readonly [path: string, kind?: EntryKind, note?: string])[] = [
    ...([['index.html'], ['./img/rex.jpg'], ['.well-known/security.txt']] as const),
    ...([['.git/config'], ['img/.DS_Store'], ['__MACOSX/index.html']] as const),
    ['latest', 'link', ', a link'],
    ...([['../index.html'], ['/var/www/index.html'], ['img//rex.jpg'], ['img\\rex.jpg']] as const),
  ];
  return asked.map(([path, kind = 'file', note = '']) => [code(path) + note, fate(path, kind)]);
};

const fate = (path: string, kind: EntryKind): string => {
  try {
    const published = new SiteInspection().admit(path, kind);
    return published === undefined ? 'skipped' : code(published);
  } catch (error) {
    if (error instanceof DomainError) return `refused: ${code(String(error.code))}`;
    throw error;
  }
};

/** The site that docs/sites.md describes above its table. */
const siteFiles = ['index.html', 'about.html', 'img/rex.jpg', 'shop/index.html', '404.html'];

const places = (): readonly (readonly string[])[] => {
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

const cacheControls = (): readonly (readonly string[])[] =>
  ['index.html', 'app.js', 'img/rex.jpg', 'assets/app-3f9a1c07.js', 'style.5RTNBVYZ.css'].map(
    (path) => [code(path), code(headersOf(path).get('Cache-Control') ?? '')],
  );

/** Headers in the order in which the edge sends them. */
const headersOf = (path: string): ReadonlyMap<string, string> => {
  const hash = 'N9hahLIS_gQ6uuOZN5uHTYL0mr5GukB-695eUWoAZIU';
  const { forms } = new ServedFile({ path, bytes: 2200, hash, brotli: 412, gzip: 497 });
  const flat = forms.br?.headers ?? [];
  return new Map(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as const] : [])),
  );
};

const exampleHeaders = (): readonly string[] =>
  [...headersOf('style.css')].map(([name, value]) => `${name.toLowerCase()}: ${value}`);

const isSmaller = (ending: string): boolean => isCompressible(`file${ending}`);

const endings =
  '.html .css .js .mjs .json .map .svg .xml .txt .md .csv .wasm .ttf .otf .ico .webmanifest .woff .woff2 .jpg .png .gif .webp .avif .mp4 .pdf .zip'.split(
    ' ',
  );
