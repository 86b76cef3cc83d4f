/** A business rule refuses and the caller can only give up. `message` says what to do instead. */
export class DomainError<Code extends string = string> extends Error {
  override readonly name = 'DomainError';
  readonly code: Code;
  /** The field that is wrong, where the caller gave several. */
  readonly field: string | undefined;

  constructor(code: Code, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
