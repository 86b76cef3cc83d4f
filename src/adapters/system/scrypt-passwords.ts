import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import PQueue from 'p-queue';
import { passwordText } from '../../access/domain/password.ts';
import { Passwords } from '../../access/people-ports.ts';
import { Unavailable } from '../../kernel/ports.ts';

let known: Promise<ReadonlySet<string>> | undefined;

/** Read on first use, once per process. */
const readCommonPasswords = (): Promise<ReadonlySet<string>> => {
  known ??= readList().catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
};

const readList = async (): Promise<ReadonlySet<string>> => {
  // The list of zxcvbn, commonest first: about 49 000 that were found in leaks. Half a megabyte.
  const path = fileURLToPath(import.meta.resolve('@zxcvbn-ts/language-common/src/passwords.json'));
  const words = JSON.parse(await readFile(path, 'utf8')) as readonly string[];
  return new Set(words.map((word) => word.toLowerCase()));
};

/** 2^15 blocks of 1 KiB, three times over: 32 MiB of memory (OWASP Password Storage Cheat Sheet). */
const cost = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 } as const;
const saltBytes = 16;
const keyBytes = 32;
/** A sign-in takes processor time from all other requests. */
const mostAtOnce = 2;
/** The last of them gets its answer after about five seconds. */
const mostWaitingUsually = 50;

const prefix = '$scrypt$ln=15,r=8,p=3$';
const shape = /^\$scrypt\$ln=15,r=8,p=3\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

const derive = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

interface Parts {
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

/** No password has this hash. */
const nobodys: Parts = { salt: new Uint8Array(saltBytes), key: new Uint8Array(keyBytes) };

/**
 * scrypt (RFC 7914) over the password in NFKC, so that it is the same from every keyboard. The result names the
 * algorithm and its cost, as in the PHC string format: `$scrypt$ln=15,r=8,p=3$salt$key`.
 */
export class ScryptPasswords extends Passwords {
  readonly #queue = new PQueue({ concurrency: mostAtOnce });
  readonly #mostWaiting: number;

  /** @param mostWaiting for their turn; further ones are refused */
  constructor({ mostWaiting = mostWaitingUsually } = {}) {
    super();
    this.#mostWaiting = mostWaiting;
  }

  override async hash(password: string, beside?: string): Promise<string> {
    const salt = partsOf(beside)?.salt ?? randomBytes(saltBytes);
    const key = await this.#derive(password, salt);
    return `${prefix}${base64(salt)}$${base64(key)}`;
  }

  /** Hashes that were made beside each other have one salt and are worked out once. */
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

  /** @throws Unavailable */
  async #derive(password: string, salt: Uint8Array): Promise<Buffer> {
    if (this.#queue.size >= this.#mostWaiting) {
      throw new Unavailable('The work on passwords', undefined, 'is more than can be done now');
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
