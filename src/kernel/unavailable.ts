/**
 * Something outside (the database) cannot be reached now, or has too much to do. Nothing is known to be stored; trying
 * again may help.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly what: string;

  constructor(what: string, cause: unknown, problem = 'cannot be reached') {
    super(`${what} ${problem}`, { cause });
    this.what = what;
  }
}

/** The deadline of the request passed first: this says nothing about what was asked. */
export class OutOfTime extends Unavailable {
  constructor(what: string) {
    super(what, undefined, 'did not answer before the deadline of the request');
  }
}
