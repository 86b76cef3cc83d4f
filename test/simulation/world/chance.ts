import { createHash, createECDH, createPrivateKey } from 'node:crypto';

/** Seeded chance. Each name has a separate stream, so draws of one part do not shift another. */
export interface Chance {
  of(...name: readonly string[]): Chance;
  next(): number;
  int(below: number): number;
  happens(probability: number): boolean;
  pick<T>(from: readonly [T, ...T[]]): T;
}

export const chanceOf = (seed: string): Chance => new Stream(seed);

/** Mulberry32: 32 bits of state, started by a hash of the name. */
class Stream implements Chance {
  readonly #name: string;
  readonly #streams = new Map<string, Stream>();
  #state: number;

  constructor(name: string) {
    this.#name = name;
    this.#state = createHash('sha256').update(name).digest().readUInt32LE(0);
  }

  of(...name: readonly string[]): Chance {
    const key = name.join('/');
    const known = this.#streams.get(key);
    if (known) return known;
    const stream = new Stream(`${this.#name}/${key}`);
    this.#streams.set(key, stream);
    return stream;
  }

  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly [T, ...T[]]): T {
    return from[this.int(from.length)] ?? from[0];
  }
}

const made = new Map<number, string>();

/**
 * The P-256 private key with this number, PKCS #8 PEM. It is the same in each run, so that stored data is not random.
 */
export const poolKey = (number: number): string => {
  const known = made.get(number);
  if (known !== undefined) return known;
  const secret = createHash('sha256').update(`key ${number}`).digest();
  const key = createPrivateKey({ format: 'jwk', key: jwkOf(secret) });
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  made.set(number, pem);
  return pem;
};

/** RFC 7518, section 6.2. The public point is 4, then x and y of 32 bytes each. */
const jwkOf = (secret: Buffer) => {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(secret);
  const point = ecdh.getPublicKey();
  return {
    kty: 'EC',
    crv: 'P-256',
    d: secret.toString('base64url'),
    x: point.toString('base64url', 1, 33),
    y: point.toString('base64url', 33),
  };
};
