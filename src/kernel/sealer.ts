/** Encrypts secrets that are kept: private keys. */
export abstract class Sealer {
  /**
   * Ids of the keys that can open; they reveal nothing about the keys. The first one seals, and its id is stored beside
   * the sealed value.
   */
  abstract readonly keyIds: readonly [string, ...string[]];

  /** @param purpose what it is for, bound to the result: sealed for one purpose, it does not open for another */
  abstract seal(secret: string, purpose: string): string;

  /** Whether it is sealed with the current key; for values that have no stored key id. */
  abstract isCurrent(sealed: string, purpose: string): boolean;

  /**
   * @param sealedBy the id stored beside it, if there is one: a hint which key to try first
   * @throws Error when it was changed, or sealed under another key or for another purpose
   */
  abstract open(sealed: string, purpose: string, sealedBy?: string): string;
}
