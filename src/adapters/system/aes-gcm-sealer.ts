import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Sealer } from '../../kernel/sealer.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1.';
/** Keeps any string exactly, halves of surrogate pairs too. */
const encoding = 'utf16le';

/**
 * AES-256 in Galois/counter mode (NIST SP 800-38D) with a random nonce; the purpose is authenticated with the
 * secret. The result is `v1.` and base64url of nonce, ciphertext and tag.
 */
export class AesGcmSealer extends Sealer {
  readonly #key: Uint8Array;

  /** @param secretKey whatever else it serves: the key is one of its own, derived from it (RFC 5869) */
  constructor(secretKey: Uint8Array) {
    super();
    const info = 'animal-store sealed secrets, version 1';
    this.#key = new Uint8Array(hkdfSync('sha256', secretKey, '', info, 32));
  }

  override seal(secret: string, purpose: string): string {
    const nonce = randomBytes(nonceBytes);
    const sealing = createCipheriv(cipher, this.#key, nonce, { authTagLength: tagBytes });
    sealing.setAAD(Buffer.from(purpose, encoding));
    const parts = [nonce, sealing.update(secret, encoding), sealing.final(), sealing.getAuthTag()];
    return version + Buffer.concat(parts).toString('base64url');
  }

  override open(sealed: string, purpose: string): string {
    const bytes = bytesOf(sealed);
    const tagAt = (bytes?.length ?? 0) - tagBytes;
    if (!bytes || tagAt < nonceBytes) throw new Error(`what is sealed as ${purpose} is damaged`);
    const nonce = bytes.subarray(0, nonceBytes);
    const opening = createDecipheriv(cipher, this.#key, nonce, { authTagLength: tagBytes });
    opening.setAAD(Buffer.from(purpose, encoding));
    opening.setAuthTag(bytes.subarray(tagAt));
    const secret = opening.update(bytes.subarray(nonceBytes, tagAt));
    try {
      return Buffer.concat([secret, opening.final()]).toString(encoding);
    } catch (cause) {
      const message = `what is sealed as ${purpose} does not open: was it sealed under another secret key?`;
      throw new Error(message, { cause });
    }
  }
}

/** Node reads base64url leniently; here one text stands for one value. */
const bytesOf = (sealed: string): Buffer | undefined => {
  if (!sealed.startsWith(version)) return undefined;
  const text = sealed.slice(version.length);
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
};
