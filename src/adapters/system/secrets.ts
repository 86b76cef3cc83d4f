import {
  createCipheriv,
  createDecipheriv,
  hkdfSync,
  randomBytes,
  scrypt,
  timingSafeEqual,
  type ScryptOptions,
} from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import PQueue from 'p-queue';
import { Sealer, Unavailable } from '../../kernel/ports.ts';
import { passwordText } from '../../access/domain/password.ts';
import { Passwords } from '../../access/people-ports.ts';

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const idBytes = 6;
const version = 'v1.';
/** This encoding keeps every string exactly, including unpaired surrogates. */
const encoding = 'utf16le';

interface Key {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Encrypts with AES-256-GCM (NIST SP 800-38D). The result is `v1.` and base64url of nonce, ciphertext and tag. */
export class AesGcmSealer extends Sealer {
  override readonly keyIds: readonly [string, ...string[]];
  readonly #current: Key;
  readonly #previous: readonly Key[];

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
      throw new Error(`the encrypted ${purpose} is damaged`);
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
      return `the encrypted ${purpose} cannot be decrypted: was it encrypted under another secret key?`;
    }
    return (
      `the encrypted ${purpose} cannot be decrypted: it was encrypted under another secret key, with the id ` +
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

const openWith = (key: Key, bytes: Buffer, purpose: string): string => {
  const tagAt = bytes.length - tagBytes;
  const nonce = bytes.subarray(0, nonceBytes);
  const opening = createDecipheriv(cipher, key.bytes, nonce, { authTagLength: tagBytes });
  opening.setAAD(Buffer.from(purpose, encoding));
  opening.setAuthTag(bytes.subarray(tagAt));
  const secret = opening.update(bytes.subarray(nonceBytes, tagAt));
  return Buffer.concat([secret, opening.final()]).toString(encoding);
};

/** Decodes base64url more strictly than Node: each value has exactly one text. */
const bytesOf = (sealed: string): Buffer | undefined => {
  if (!sealed.startsWith(version)) return undefined;
  const text = sealed.slice(version.length);
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
};

let known: Promise<ReadonlySet<string>> | undefined;

const readCommonPasswords = (): Promise<ReadonlySet<string>> => {
  known ??= readList().catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
};

const readList = async (): Promise<ReadonlySet<string>> => {
  // This is the zxcvbn list of about 49 000 leaked passwords, most common first. The file has half a megabyte.
  const path = fileURLToPath(import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json'));
  const words = JSON.parse(await readFile(path, 'utf8')) as readonly string[];
  return new Set(words.map((word) => word.toLowerCase()));
};

/** These parameters use 32 MiB of memory (OWASP Password Storage Cheat Sheet). */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const;
const saltBytes = 16;
const keyBytes = 32;
const mostAtOnce = 2;
const mostWaitingUsually = 50;

const prefix = '$scrypt$ln=15,r=8,p=3$';
const shape = /^\$scrypt\$ln=15,r=8,p=3\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

const derive = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

interface Parts {
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

const nobodys: Parts = { salt: new Uint8Array(saltBytes), key: new Uint8Array(keyBytes) };

/** Hashes passwords in NFKC form with scrypt (RFC 7914). The result is a PHC string: `$scrypt$ln=15,r=8,p=3$salt$key`. */
export class ScryptPasswords extends Passwords {
  readonly #queue = new PQueue({ concurrency: mostAtOnce });
  readonly #mostWaiting: number;

  constructor({ mostWaiting = mostWaitingUsually } = {}) {
    super();
    this.#mostWaiting = mostWaiting;
  }

  override async hash(password: string, beside?: string): Promise<string> {
    const salt = partsOf(beside)?.salt ?? randomBytes(saltBytes);
    const key = await this.#derive(password, salt);
    return `${prefix}${base64(salt)}$${base64(key)}`;
  }

  /** Computes once for all hashes with the same salt. */
  override async matching(password: string, hashes: readonly string[]): Promise<readonly string[]> {
    const known = hashes.flatMap((hash) => partsOf(hash) ?? []);
    const keys = new Map<string, Buffer>();
    for (const { salt } of known.length === 0 ? [nobodys] : known) {
      const name = base64(salt);
      if (!keys.has(name)) keys.set(name, await this.#derive(password, salt));
    }
    return hashes.filter((hash) => {
      const parts = partsOf(hash);
      const key = parts && keys.get(base64(parts.salt));
      return parts !== undefined && key !== undefined && timingSafeEqual(key, parts.key);
    });
  }

  override commonest(): Promise<ReadonlySet<string>> {
    return readCommonPasswords();
  }

  async #derive(password: string, salt: Uint8Array): Promise<Buffer> {
    if (this.#queue.size >= this.#mostWaiting) {
      throw new Unavailable('Password hashing', undefined, 'has too many requests');
    }
    return this.#queue.add(() => derive(passwordText(password), salt, keyBytes, cost));
  }
}

const partsOf = (hash: string | undefined): Parts | undefined => {
  const [, salt, key] = shape.exec(hash ?? '') ?? [];
  if (salt === undefined || key === undefined) return undefined;
  return { salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
};

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString('base64').replaceAll('=', '');
