/** Encrypts secrets that are kept: private keys. */
export abstract class Sealer {
  /** @param purpose what it is for, bound to the result: sealed for one purpose, it does not open for another */
  abstract seal(secret: string, purpose: string): string;

  /** @throws Error when it was changed, or sealed under another key or for another purpose */
  abstract open(sealed: string, purpose: string): string;
}
