import { DomainError } from '../../kernel/domain-error.ts';
import type { UploadProblem } from './sites-error.ts';

export const pathLimits = {
  /** UTF-8 bytes of a whole path, and of one of its names. */
  pathBytes: 1024,
  nameBytes: 255,
  /** Folders around a file. */
  folders: 32,
} as const;

/**
 * Where an entry of an upload is published: normalised to NFC, as browsers send it; "./" in front and, of a folder,
 * "/" at the end do not count.
 * @returns '' for the folder that is the site itself
 * @throws DomainError `archive_unsafe_path`
 */
export const publishedPath = (raw: string, isFolder: boolean): string => {
  // Checked first, because the checks below take longer for longer text.
  if (isLonger(raw, pathLimits.pathBytes)) throw unsafe(raw, tooLong);
  const path = withoutDots(isFolder ? withoutSlashes(raw) : raw).normalize('NFC');
  if (isFolder && (path === '' || path === '.')) return '';
  const why = faultOf(path, isFolder);
  if (why !== undefined) throw unsafe(raw, why);
  return path;
};

const faultOf = (path: string, isFolder: boolean): string | undefined => {
  if (!path.isWellFormed() || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(path)) {
    return 'has characters that paths cannot have; rename it';
  }
  if (path.includes('\\')) return 'has a backslash; paths are separated by "/"';
  if (/^(\/|[A-Za-z]:)/.test(path)) return 'is absolute; pack the site from within its folder';
  const names = path.split('/');
  if (names.includes('..')) return 'leads out of the site';
  if (names.some((name) => name === '' || name === '.')) return 'has an empty name in it';
  const { pathBytes, nameBytes, folders } = pathLimits;
  if (isLonger(path, pathBytes) || names.some((name) => isLonger(name, nameBytes))) return tooLong;
  return names.length - (isFolder ? 0 : 1) > folders
    ? `is too deep; at most ${String(folders)} nested folders are allowed`
    : undefined;
};

const tooLong = `is too long; at most ${String(pathLimits.pathBytes)} bytes are allowed, and ${String(pathLimits.nameBytes)} in a name`;

const withoutSlashes = (path: string): string => {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
};

const withoutDots = (path: string): string => {
  let start = 0;
  while (path.startsWith('./', start)) start += 2;
  return path.slice(start);
};

const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || utf8Length(text) > bytes;

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

const longestShown = 100;

/** Paths come from outside: short, and without what could play tricks on a terminal. */
export const shownPath = (path: string): string => {
  const plain = path.slice(0, longestShown).toWellFormed().replace(/\p{C}/gu, '�');
  return path.length > longestShown ? `${plain}…` : plain;
};

const unsafe = (raw: string, why: string): DomainError<UploadProblem> =>
  new DomainError('archive_unsafe_path', `The path "${shownPath(raw)}" ${why}.`);
