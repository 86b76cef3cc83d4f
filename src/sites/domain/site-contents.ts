import { DomainError } from '../../kernel/decision.ts';
import type { UploadProblem } from './sites-error.ts';
import { admitBytes, type StorageRoom } from './storage-quota.ts';

const pathLimits = {
  /** In UTF-8 bytes: of a whole path, and of one name in it. */
  pathBytes: 1024,
  nameBytes: 255,
  folders: 32,
} as const;

/**
 * The path where an entry of an upload is published, in NFC, as browsers send it, without a leading "./" or a folder's
 * trailing "/".
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
  text.length > bytes || new TextEncoder().encode(text).byteLength > bytes;

const longestShown = 100;

/** Paths are untrusted, so this shortens them and removes characters that could manipulate a terminal. */
export const shownPath = (path: string): string => {
  const plain = path.slice(0, longestShown).toWellFormed().replace(/\p{C}/gu, '�');
  return path.length > longestShown ? `${plain}…` : plain;
};

const unsafe = (raw: string, why: string): DomainError<UploadProblem> =>
  new DomainError('archive_unsafe_path', `The path "${shownPath(raw)}" ${why}.`);

/** Limits of an upload, enforced on the unpacked content, not on what the archive declares. */
export const siteLimits = {
  /** Number of files and folders, including folders that appear only in file paths. */
  entries: 10_000,
  bytes: 200 * 1024 * 1024,
  ...pathLimits,
} as const;

export type EntryKind = 'file' | 'folder' | 'link' | 'other';

/** The published files of an upload, and how many files were left out. */
export interface SiteContents {
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: number;
}

/** Checks one upload while it is unpacked. Each method throws DomainError with an `UploadProblem`. */
export class SiteInspection {
  readonly #room: StorageRoom | undefined;
  readonly #files = new Set<string>();
  /** Folders with files in them, and all their parents. */
  readonly #folders = new Set<string>();
  readonly #listed = new Set<string>();
  /** A name that must not be at the top of a site, with its folder, which may turn out to be the top. */
  #unwanted: { readonly folder: string; readonly name: Unwanted } | undefined;
  #entries = 0;
  #bytes = 0;
  #leftOut = 0;

  /** @param room what the account may still store, if that is limited */
  constructor(room?: StorageRoom) {
    this.#room = room;
  }

  /** @returns the path where the file is published; undefined for files that are left out */
  admit(rawPath: string, kind: EntryKind): string | undefined {
    const path = publishedPath(rawPath, kind === 'folder');
    const [first = '', second = ''] = path.split('/', 2);
    if (isUnwanted(first)) throw unwantedAt('', first);
    if (isUnwanted(second)) this.#unwanted ??= { folder: `${first}/`, name: second };
    if (kind === 'folder') {
      this.#admitFolder(path);
      return undefined;
    }
    this.#countEntry();
    if (kind !== 'file') {
      const message = `"${shownPath(path)}" is a link or a device; put the file itself there.`;
      throw refusal('archive_link', message);
    }
    if (isHidden(path)) {
      this.#leftOut += 1;
      return undefined;
    }
    this.#admitFile(path);
    return path;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > siteLimits.bytes) {
      const most = `${String(siteLimits.bytes / 1024 / 1024)} MiB`;
      throw refusal('archive_too_large', `Unpacked it is larger than ${most}.`);
    }
    if (this.#room) admitBytes(this.#bytes, this.#room);
  }

  finish(): SiteContents {
    const [files, wrapping] = [this.#files, this.wrapping()];
    if (this.#unwanted?.folder === wrapping) throw unwantedAt(wrapping, this.#unwanted.name);
    if (!files.has(`${wrapping}index.html`)) throw withoutIndex(files);
    return { files: files.size, bytes: this.#bytes, leftOut: this.#leftOut };
  }

  /** The folder, with a slash, that contains everything, if the site was packed with it; '' otherwise. */
  wrapping(): string {
    return wrappingOf(this.#files);
  }

  #countEntry(): void {
    this.#entries += 1;
    if (this.#entries > siteLimits.entries) {
      if (this.#unwanted) throw unwantedAt(this.#unwanted.folder, this.#unwanted.name);
      const most = String(siteLimits.entries);
      throw refusal('archive_too_many_entries', `It has more than ${most} files and folders.`);
    }
  }

  #admitFolder(path: string): void {
    // A folder without an entry of its own was counted with the first file in it.
    if (this.#listed.has(path) || !this.#folders.has(path)) this.#countEntry();
    this.#listed.add(path);
  }

  #admitFile(path: string): void {
    if (this.#files.has(path)) {
      const message = `"${shownPath(path)}" is in it twice; keep one of them.`;
      throw refusal('archive_duplicate_path', message);
    }
    if (this.#folders.has(path)) throw bothAtOnce(path);
    const around = this.#newFoldersAround(path);
    this.#files.add(path);
    for (const folder of around) {
      this.#folders.add(folder);
      if (!this.#listed.has(folder)) this.#countEntry();
    }
  }

  /** New folders, innermost first. The parents of a known folder are known too. */
  #newFoldersAround(path: string): readonly string[] {
    const found: string[] = [];
    for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (this.#files.has(folder)) throw bothAtOnce(folder);
      if (this.#folders.has(folder)) break;
      found.push(folder);
    }
    return found;
  }
}

const wrappingOf = (files: ReadonlySet<string>): string => {
  const [first = ''] = files;
  const folder = first.slice(0, first.indexOf('/') + 1);
  if (files.has('index.html') || folder.startsWith('.')) return '';
  return [...files].every((path) => path.startsWith(folder)) ? folder : '';
};

/** Dot files are never served, except the folder of RFC 8615. Nor are the files that macOS adds to archives. */
const isHidden = (path: string): boolean =>
  path
    .split('/')
    .some((name) => (name.startsWith('.') && name !== '.well-known') || name === '__MACOSX');

/** Names that are never part of a site. An upload with one of these at its top is of the wrong folder. */
export const unwantedNames = {
  '.env': 'It may contain secrets',
  '.git': 'It contains the history of your source',
  node_modules: 'It contains packages for building',
} as const;
type Unwanted = keyof typeof unwantedNames;

const isUnwanted = (name: string): name is Unwanted => Object.hasOwn(unwantedNames, name);

const unwantedAt = (folder: string, name: Unwanted): DomainError<UploadProblem> =>
  refusal(
    'archive_unwanted',
    `It has "${shownPath(`${folder}${name}`)}" at its top. ${unwantedNames[name]}, and is not part of a site: ` +
      'deploy only your build\'s output folder, such as "dist".',
  );

const withoutIndex = (files: ReadonlySet<string>): DomainError<UploadProblem> => {
  const deeper = [...files].find((path) => path.endsWith('/index.html'));
  const hint = deeper
    ? ` There is "${shownPath(deeper)}": pack what is inside that folder.`
    : ' Add the page that visitors see first.';
  return refusal('archive_without_index', `It has no index.html at its top.${hint}`);
};

const bothAtOnce = (path: string): DomainError<UploadProblem> => {
  const message = `"${shownPath(path)}" is a file and a folder at once; rename one of them.`;
  return refusal('archive_duplicate_path', message);
};

const refusal = (code: UploadProblem, message: string): DomainError<UploadProblem> =>
  new DomainError(code, message);
