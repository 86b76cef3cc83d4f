/** The authority was not reached, was silent, or what it said is of no use. The message repeats no secret. */
export class NoUsableAnswer extends Error {
  override readonly name = 'NoUsableAnswer';
}
