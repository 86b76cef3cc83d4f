interface Fault {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

const codes =
  /^(E(NOSPC|DQUOT|FBIG|ROFS|ACCES|PERM|NOENT|NOTDIR|IO|MFILE|NFILE|NOMEM)|SQLITE_(FULL|READONLY|CANTOPEN|IOERR|NOMEM)\w*)$/;
/** The programs of MySQL say it in words. */
const words = /no space left on device|disk (is )?full|read-only file system/i;

/** Whether an error is that of the folder or machine where a copy is tried, and says nothing about the copy. */
export const isFaultOfPlace = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false;
  const { code, message, cause }: Fault = error;
  return codes.test(String(code)) || words.test(String(message)) || isFaultOfPlace(cause);
};
