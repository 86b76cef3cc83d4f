import { DomainError } from '../../kernel/domain-error.ts';
import { pathLimits, publishedPath, shownPath } from './published-path.ts';
import { admitBytes, type StorageRoom } from './storage-quota.ts';
import type { UploadProblem } from './sites-error.ts';

/** Limits of an upload, enforced on what is really unpacked, not on what the archive declares. */
export const siteLimits = {
  /** Files and folders, including folders that appear only in file paths. */
  entries: 10_000,
  /** Unpacked: 200 MiB. */
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

/** Watches over one upload while it is unpacked. Each method throws DomainError with an `UploadProblem`. */
export interface SiteInspection {
  /** @returns the path that the file is published under, or undefined for what is left out */
  admit(path: string, kind: EntryKind): string | undefined;
  count(bytes: number): void;
  finish(): SiteContents;
  /** The folder that everything lies in, with a slash, if the site was packed with it; '' otherwise. */
  wrapping(): string;
}

/** @param room what the account may still keep, if that is limited */
export const inspectSite = (room?: StorageRoom): SiteInspection => {
  const files = new Set<string>();
  /** Folders with files in them, and all their parents. */
  const folders = new Set<string>();
  /** Folders that have an entry of their own. */
  const listed = new Set<string>();
  let entries = 0;
  let bytes = 0;
  let leftOut = 0;

  const countEntry = (): void => {
    entries += 1;
    if (entries > siteLimits.entries) {
      const most = String(siteLimits.entries);
      throw refusal('archive_too_many_entries', `It has more than ${most} files and folders.`);
    }
  };

  const admitFolder = (path: string): void => {
    // Counted with the first file in it, unless it had an entry already.
    if (listed.has(path) || !folders.has(path)) countEntry();
    listed.add(path);
  };

  /** The new folders, innermost first; the parents of a known folder are known too. */
  const newFoldersAround = (path: string): readonly string[] => {
    const found: string[] = [];
    for (let at = path.lastIndexOf('/'); at !== -1; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at);
      if (files.has(folder)) throw bothAtOnce(folder);
      if (folders.has(folder)) break;
      found.push(folder);
    }
    return found;
  };

  const admitFile = (path: string): void => {
    if (files.has(path)) {
      const message = `"${shownPath(path)}" is in it twice; keep one of them.`;
      throw refusal('archive_duplicate_path', message);
    }
    if (folders.has(path)) throw bothAtOnce(path);
    const around = newFoldersAround(path);
    files.add(path);
    for (const folder of around) {
      folders.add(folder);
      if (!listed.has(folder)) countEntry();
    }
  };

  return {
    admit: (rawPath, kind) => {
      const path = publishedPath(rawPath, kind === 'folder');
      if (kind === 'folder') {
        admitFolder(path);
        return undefined;
      }
      countEntry();
      if (kind !== 'file') {
        const message = `"${shownPath(path)}" is a link or a device; put the file itself there.`;
        throw refusal('archive_link', message);
      }
      if (isHidden(path)) {
        leftOut += 1;
        return undefined;
      }
      admitFile(path);
      return path;
    },
    count: (more) => {
      bytes += more;
      if (bytes > siteLimits.bytes) {
        const most = `${String(siteLimits.bytes / 1024 / 1024)} MiB`;
        throw refusal('archive_too_large', `Unpacked it is larger than ${most}.`);
      }
      if (room) admitBytes(bytes, room);
    },
    finish: () => {
      if (!files.has(`${wrappingOf(files)}index.html`)) throw withoutIndex(files);
      return { files: files.size, bytes, leftOut };
    },
    wrapping: () => wrappingOf(files),
  };
};

const wrappingOf = (files: ReadonlySet<string>): string => {
  const [first = ''] = files;
  const folder = first.slice(0, first.indexOf('/') + 1);
  if (files.has('index.html') || folder.startsWith('.')) return '';
  return [...files].every((path) => path.startsWith(folder)) ? folder : '';
};

/** Dot files are never served (RFC 8615's folder is), nor is what macOS adds to every archive. */
const isHidden = (path: string): boolean =>
  path
    .split('/')
    .some((name) => (name.startsWith('.') && name !== '.well-known') || name === '__MACOSX');

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
