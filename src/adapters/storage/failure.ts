import { DomainError } from '../../kernel/domain-error.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import type { UploadProblem } from '../../sites/domain/sites-error.ts';

/** The code of an error of the file system; undefined for any other. */
const systemCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** For what may be gone already. */
export const ignoreMissing = (error: unknown): undefined => {
  if (systemCode(error) !== 'ENOENT') throw error;
};

/** Does something with the storage. @throws DomainError `storage_full`, Unavailable */
export const stored = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw failure(error);
  }
};

const failure = (error: unknown): Error => {
  const code = systemCode(error);
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return new Unavailable('The storage', error);
  return new DomainError<UploadProblem>(
    'storage_full',
    'There is no room left for this deploy on the server. Try again later, or publish less.',
  );
};
