import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Sealer } from '../../kernel/ports.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const idBytes = 6;
const version = 'v1.';
/** Keeps any string exactly, halves of surrogate pairs too. */
const encoding = 'utf16le';

interface Key {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * AES-256 in Galois/counter mode (NIST SP 800-38D) with a random nonce; the purpose is authenticated with the
 * secret. The result is `v1.` and base64url of nonce, ciphertext and tag.
 */
export class AesGcmSealer extends Sealer {
  override readonly keyIds: readonly [string, ...string[]];
  readonly #current: Key;
  readonly #previous: readonly Key[];

  /**
   * @param secretKey may serve other purposes too: sealing uses its own key, derived from it (RFC 5869)
   * @param previous the replaced secret keys; values that they sealed still open
   */
  constructor(secretKey: Uint8Array, previous: readonly Uint8Array[] = []) {
    super();
    this.#current = keyFrom(secretKey);
    this.#previous = previous.map(keyFrom);
    this.keyIds = [this.#current.id, ...this.#previous.map(({ id }) => id)];
  }

  override seal(secret: string, purpose: string): string {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.#current.bytes, nonce, { authTagLength: tagBytes });
    sealing.setAAD(Buffer.from(purpose, encoding));
    const parts = [nonce, sealing.update(secret, encoding), sealing.final(), sealing.getAuthTag()];
    return version + Buffer.concat(parts).toString('base64url');
  }

  override isCurrent(sealed: string, purpose: string): boolean {
    const bytes = bytesOf(sealed);
    if (!bytes || bytes.length < nonceBytes + tagBytes) return false;
    try {
      openWith(this.#current, bytes, purpose);
      return true;
    } catch {
      return false;
    }
  }

  override open(sealed: string, purpose: string, sealedBy?: string): string {
    const bytes = bytesOf(sealed);
    if (!bytes || bytes.length < nonceBytes + tagBytes) {
      throw new Error(`what is sealed as ${purpose} is damaged`);
    }
    let cause: unknown;
    for (const key of this.#likeliestFirst(sealedBy)) {
      try {
        return openWith(key, bytes, purpose);
      } catch (error) {
        cause = error;
      }
    }
    throw new Error(this.#whyNot(purpose, sealedBy), { cause });
  }

  #likeliestFirst(sealedBy: string | undefined): readonly Key[] {
    const [current, previous] = [this.#current, this.#previous];
    return previous.some(({ id }) => id === sealedBy)
      ? [...previous, current]
      : [current, ...previous];
  }

  #whyNot(purpose: string, sealedBy: string | undefined): string {
    if (sealedBy === undefined || this.keyIds.includes(sealedBy)) {
      return `what is sealed as ${purpose} does not open: was it sealed under another secret key?`;
    }
    return (
      `what is sealed as ${purpose} does not open: it was sealed under another secret key, with the id ` +
      `${sealedBy}, and this process has ${this.keyIds.join(', ')}. Give that key as SECRET_KEY_PREVIOUS.`
    );
  }
}

const keyFrom = (secretKey: Uint8Array): Key => ({
  id: Buffer.from(
    hkdfSync('sha256', secretKey, '', 'animal-store key id, version 1', idBytes),
  ).toString('hex'),
  bytes: new Uint8Array(
    hkdfSync('sha256', secretKey, '', 'animal-store sealed secrets, version 1', 32),
  ),
});

/** @throws Error when it was changed, or sealed under another key or for another purpose */
const openWith = (key: Key, bytes: Buffer, purpose: string): string => {
  const tagAt = bytes.length - tagBytes;
  const nonce = bytes.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, key.bytes, nonce, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(purpose, encoding));
  opening.setAuthTag(bytes.subarray(tagAt));
  const secret = opening.update(bytes.subarray(nonceBytes, tagAt));
  return Buffer.concat([secret, opening.final()]).toString(encoding);
};

/** Strict, unlike Node's base64url: each value has exactly one text. */
const bytesOf = (sealed: string): Buffer | undefined => {
  if (!sealed.startsWith(version)) return undefined;
  const text = sealed.slice(version.length);
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
};
