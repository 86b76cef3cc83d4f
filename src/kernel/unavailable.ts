/**
 * An outside system (the database) is unreachable or overloaded. Whether anything was stored is unknown; a retry may
 * help.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly what: string;

  constructor(what: string, cause: unknown, problem = 'cannot be reached') {
    super(`${what} ${problem}`, { cause });
    this.what = what;
  }
}

/** The request's deadline passed; this does not mean that the outside system is failing. */
export class OutOfTime extends Unavailable {
  constructor(what: string) {
    super(what, undefined, 'did not answer before the deadline of the request');
  }
}
