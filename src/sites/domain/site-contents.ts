import { DomainError } from '../../kernel/domain-error.ts';
import type { UploadProblem } from './sites-error.ts';

/** What an upload may hold; counted while it is unpacked, whatever it says of itself. */
export const siteLimits = {
  entries: 10_000,
  /** Unpacked: 200 MiB. */
  bytes: 200 * 1024 * 1024,
  /** UTF-8 bytes of a whole path, and of one of its names. */
  pathBytes: 1024,
  nameBytes: 255,
} as const;

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** What is published of an upload, and how many files are not. */
export interface SiteContents {
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: number;
}

/** Watches over one upload while it is unpacked. Each method throws DomainError with an `UploadProblem`. */
export interface SiteInspection {
  /** @returns the path that the file is published under, or undefined for what is left out */
  admit(path: string, kind: EntryKind): string | undefined;
  /** More content arrived. */
  count(bytes: number): void;
  /** All entries were seen. */
  finish(): SiteContents;
}

export const inspectSite = (): SiteInspection => {
  const files = new Set<string>();
  const folders = new Set<string>();
  let entries = 0;
  let bytes = 0;
  let leftOut = 0;

  const admitPath = (path: string): void => {
    if (files.has(path)) {
      throw refusal('archive_duplicate_path', `"${shown(path)}" is in it twice; keep one of them.`);
    }
    const parents = parentsOf(path);
    const clash = folders.has(path) ? path : parents.find((parent) => files.has(parent));
    if (clash !== undefined) {
      const message = `"${shown(clash)}" is a file and a folder at once; rename one of them.`;
      throw refusal('archive_duplicate_path', message);
    }
    files.add(path);
    for (const parent of parents) folders.add(parent);
  };

  return {
    admit: (rawPath, kind) => {
      entries += 1;
      if (entries > siteLimits.entries) {
        const most = String(siteLimits.entries);
        throw refusal('archive_too_many_entries', `It has more than ${most} files and folders.`);
      }
      const path = publishedPath(rawPath, kind);
      if (kind === 'link' || kind === 'other') {
        const message = `"${shown(path)}" is a link or a device; put the file itself there.`;
        throw refusal('archive_link', message);
      }
      if (kind === 'folder') return undefined;
      if (isHidden(path)) {
        leftOut += 1;
        return undefined;
      }
      admitPath(path);
      return path;
    },
    count: (more) => {
      bytes += more;
      if (bytes > siteLimits.bytes) {
        const most = `${String(siteLimits.bytes / 1024 / 1024)} MiB`;
        throw refusal('archive_too_large', `Unpacked it is larger than ${most}.`);
      }
    },
    finish: () => {
      if (!files.has('index.html')) throw withoutIndex(files);
      return { files: files.size, bytes, leftOut };
    },
  };
};

/** Normalised to NFC, as browsers send it; "./" in front and "/" at the end do not count. */
const publishedPath = (raw: string, kind: EntryKind): string => {
  const unsafe = (why: string) =>
    refusal('archive_unsafe_path', `The path "${shown(raw)}" ${why}.`);
  const path = (kind === 'folder' ? raw.replace(/\/+$/, '') : raw)
    .replace(/^(\.\/)+/, '')
    .normalize('NFC');
  if (kind === 'folder' && (path === '' || path === '.')) return '';
  if (!path.isWellFormed() || /\p{Cc}/u.test(path)) {
    throw unsafe('has characters that no path can have; rename it');
  }
  if (path.includes('\\')) throw unsafe('has a backslash; paths are separated by "/"');
  if (/^(\/|[A-Za-z]:)/.test(path))
    throw unsafe('is absolute; pack the site from within its folder');
  const names = path.split('/');
  if (names.includes('..')) throw unsafe('leads out of the site');
  if (names.some((name) => name === '' || name === '.')) throw unsafe('has an empty name in it');
  if (utf8Length(path) > siteLimits.pathBytes || names.some(isTooLong)) {
    const { pathBytes, nameBytes } = siteLimits;
    throw unsafe(`is too long; ${String(pathBytes)} bytes fit, and ${String(nameBytes)} in a name`);
  }
  return path;
};

const isTooLong = (name: string): boolean => utf8Length(name) > siteLimits.nameBytes;

const utf8Length = (text: string): number => {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) length += 1;
    else if (code < 0x800) length += 2;
    else length += code < 0x10000 ? 3 : 4;
  }
  return length;
};

/** Dot files are never served (RFC 8615's folder is), nor is what macOS adds to every archive. */
const isHidden = (path: string): boolean =>
  path
    .split('/')
    .some((name) => (name.startsWith('.') && name !== '.well-known') || name === '__MACOSX');

const parentsOf = (path: string): readonly string[] => {
  const parents = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    parents.push(path.slice(0, at));
  }
  return parents;
};

const withoutIndex = (files: ReadonlySet<string>): DomainError<UploadProblem> => {
  const deeper = [...files].find((path) => path.endsWith('/index.html'));
  const hint = deeper
    ? ` There is "${shown(deeper)}": pack what is inside that folder.`
    : ' Add the page that visitors see first.';
  return refusal('archive_without_index', `It has no index.html at its top.${hint}`);
};

/** Paths come from outside: short, and without what could play tricks on a terminal. */
const shown = (path: string): string => {
  const plain = path.toWellFormed().replace(/\p{C}/gu, '�');
  return plain.length > 100 ? `${plain.slice(0, 100).toWellFormed()}…` : plain;
};

const refusal = (code: UploadProblem, message: string): DomainError<UploadProblem> =>
  new DomainError(code, message);
