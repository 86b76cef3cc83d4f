import { base62 } from '../../src/access/domain/api-key.ts';
import { KeyMaterial } from '../../src/access/ports.ts';

/** Predictable secrets, each different; its "hashes" only differ for different texts. */
export class CountingKeyMaterial extends KeyMaterial {
  #state = 1;
  readonly #digests = new Map<string, string>();

  override randomBase62(length: number): string {
    return Array.from({ length }, () => {
      this.#state = (this.#state * 48271) % 2147483647;
      return base62.charAt(this.#state % base62.length);
    }).join('');
  }

  override sha256(text: string): string {
    const known = this.#digests.get(text);
    if (known) return known;
    const digest = (this.#digests.size + 1).toString(16).padStart(64, '0');
    this.#digests.set(text, digest);
    return digest;
  }
}
