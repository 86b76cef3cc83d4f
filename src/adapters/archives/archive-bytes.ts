import type { FileHandle } from 'node:fs/promises';
import { DomainError } from '../../kernel/decision.ts';
import type { UploadProblem } from '../../sites/domain/sites-error.ts';

const chunkBytes = 64 * 1024;

/** Reads part of a file. It holds nothing open between reads, so a caller may stop early and close the file. */
export async function* bytesOf(
  handle: FileHandle,
  first = 0,
  length = Infinity,
): AsyncGenerator<Uint8Array, void, undefined> {
  const end = first + length;
  for (let position = first; position < end;) {
    const buffer = new Uint8Array(Math.min(chunkBytes, end - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

const ownersFault = new Set([
  'EACCES',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'ESPIPE',
]);

export const unreadable = (shown: string, error: unknown): unknown => {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined || code === undefined || !ownersFault.has(code)) return error;
  return problem('archive_unreadable', `${JSON.stringify(shown)} cannot be read (${code}).`);
};

/** Rewords a library's error for the site's owner. System errors are passed on unchanged. */
export const damaged = (error: unknown): unknown => {
  if (error instanceof DomainError || (error as NodeJS.ErrnoException).syscall) return error;
  const again = 'Pack the site again, and upload the whole file.';
  return problem('archive_unreadable', `The archive is damaged or incomplete. ${again}`);
};

export const unsupported = (why: string): DomainError<UploadProblem> =>
  problem('archive_unsupported', `${why}. Upload a .zip, .tar.gz or .tgz.`);

export const problem = (code: UploadProblem, message: string): DomainError<UploadProblem> =>
  new DomainError(code, message);
