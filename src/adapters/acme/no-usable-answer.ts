/** The authority was unreachable or silent, or its answer is unusable. The message contains no secret. */
export class NoUsableAnswer extends Error {
  override readonly name = 'NoUsableAnswer';
}
