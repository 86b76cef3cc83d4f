/** Encrypts secrets that are kept: private keys. */
export abstract class Sealer {
  /**
   * Names of the keys that open, which tell nothing of the keys. The first is the one that seals: it is kept beside
   * what it sealed.
   */
  abstract readonly keyIds: readonly [string, ...string[]];

  /** @param purpose what it is for, bound to the result: sealed for one purpose, it does not open for another */
  abstract seal(secret: string, purpose: string): string;

  /** Whether it opens with the key that seals now: where no id is kept beside it, that says so. */
  abstract isCurrent(sealed: string, purpose: string): boolean;

  /**
   * @param sealedBy the id that was kept beside it. Only a hint where to begin: an earlier release kept none, and
   * could replace a value without it
   * @throws Error when it was changed, or sealed under another key or for another purpose
   */
  abstract open(sealed: string, purpose: string, sealedBy?: string): string;
}
