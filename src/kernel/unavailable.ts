/** Something outside (the database) cannot be reached now. Nothing is known to be stored; trying again may help. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';

  constructor(what: string, cause: unknown) {
    super(`${what} cannot be reached`, { cause });
  }
}
