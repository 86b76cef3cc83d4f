import { join } from 'node:path';
import type { Sealer } from '../../kernel/sealer.ts';
import { LocalRoot, newRoot, type RootPair } from './local-root.ts';
import { createOnce, readWhole, replaceWhole } from './whole-file.ts';

/** What its key is sealed for. */
export const localRootPurpose = 'local certificate authority';

type Resealing =
  | { readonly kind: 'resealed' | 'nothing to do' }
  | { readonly kind: 'left'; readonly id: string; readonly reason: string };

/** The root of the local authority, made on first use, in the folder that all processes share. */
export class LocalRootFile {
  /** Holds the key and its certificate, so that they always belong together. */
  readonly #sealedPath: string;
  readonly #rootPath: string;
  readonly #sealer: Sealer;
  #opening: Promise<LocalRoot> | undefined;

  constructor(folder: string, sealer: Sealer) {
    this.#sealedPath = join(folder, 'local-ca.key');
    this.#rootPath = join(folder, 'local-ca.pem');
    this.#sealer = sealer;
  }

  /**
   * Opened once; a failure is not cached.
   * @throws Error when SECRET_KEY is not the one the root was made with, or the root has expired
   */
  async open(now: Date): Promise<LocalRoot> {
    this.#opening ??= this.#read(now).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    const root = await this.#opening;
    if (root.notAfter <= now) throw this.#unusable('has expired:');
    return root;
  }

  /** Seals the root again under the current key, if it exists and is sealed under another. */
  async reseal(): Promise<Resealing> {
    const sealed = await readWhole(this.#sealedPath);
    if (sealed === undefined || this.#sealer.isCurrent(sealed, localRootPurpose)) {
      return { kind: 'nothing to do' };
    }
    try {
      await replaceWhole(this.#sealedPath, this.#seal(this.#unseal(sealed)), 0o600);
      return { kind: 'resealed' };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'left', id: this.#sealedPath, reason };
    }
  }

  async #read(now: Date): Promise<LocalRoot> {
    const sealed =
      (await readWhole(this.#sealedPath)) ??
      (await createOnce(this.#sealedPath, this.#seal(await newRoot(now))));
    const root = new LocalRoot(this.#unseal(sealed));
    if ((await readWhole(this.#rootPath)) !== root.certificate) {
      await replaceWhole(this.#rootPath, root.certificate);
    }
    return root;
  }

  #seal(pair: RootPair): string {
    return this.#sealer.seal(JSON.stringify(pair), localRootPurpose);
  }

  #unseal(sealed: string): RootPair {
    try {
      return JSON.parse(this.#sealer.open(sealed, localRootPurpose)) as RootPair;
    } catch (error) {
      const reason = 'cannot be opened: SECRET_KEY is not the one it was made with';
      throw this.#unusable(`${reason}. Restore SECRET_KEY, or`, error);
    }
  }

  #unusable(why: string, cause?: unknown): Error {
    const remedy = `remove ${this.#sealedPath} and ${this.#rootPath}: a new root is made when it is needed next.`;
    return new Error(`${this.#sealedPath} ${why} ${remedy}`, { cause });
  }
}
