/** A business rule refuses and the caller can only give up. `message` says what to do instead. */
export class DomainError<Code extends string = string> extends Error {
  override readonly name = 'DomainError';
  readonly code: Code;

  constructor(code: Code, message: string) {
    super(message);
    this.code = code;
  }
}
