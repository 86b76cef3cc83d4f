import { randomBytes, randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CertificateAuthority, type OrderAnswer } from '../../domains/certificate-ports.ts';
import type { Certificate } from '../../domains/domain/certificates/renewal.ts';
import type {
  AuthorityFailureReason,
  CertificateOrder,
  OrderState,
} from '../../domains/domain/certificates/certificate-status.ts';
import { hourMs } from '../../kernel/durations.ts';
import { type Clock, type Sealer, Unavailable } from '../../kernel/ports.ts';
import { newPrivateKey } from './issued-certificate.ts';
import { LocalRoot, newRoot, type RootPair } from './x509.ts';

const lifeMs = 90 * 24 * hourMs;
const orderPrefix = 'local:';

/** A certificate authority for development. Clients must trust `local-ca.pem` from the folder. */
export class LocalCertificateAuthority extends CertificateAuthority {
  override readonly name = 'local';
  readonly #file: LocalRootFile;
  readonly #clock: Clock;

  constructor(setup: { readonly folder: string; readonly sealer: Sealer; readonly clock: Clock }) {
    super();
    this.#file = new LocalRootFile(setup.folder, setup.sealer);
    this.#clock = setup.clock;
  }

  override issuers(): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  override accountUri(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  override newPrivateKey(): Promise<string> {
    return newPrivateKey();
  }

  override order(): Promise<Extract<OrderAnswer, { kind: 'ordered' }>> {
    const url = `${orderPrefix}${randomUUID()}`;
    return Promise.resolve({ kind: 'ordered', url, isExempt: false });
  }

  override async look(order: CertificateOrder): Promise<OrderState> {
    if (!order.url.startsWith(orderPrefix)) {
      return failed('order_gone', `${order.url} is not an order of the local authority.`);
    }
    try {
      return { kind: 'issued', certificate: await this.#issue(order) };
    } catch (error) {
      return failed('unavailable', error instanceof Error ? error.message : String(error));
    }
  }

  override prove(order: CertificateOrder): Promise<OrderState> {
    return this.look(order);
  }

  override finalize(order: CertificateOrder): Promise<OrderState> {
    return this.look(order);
  }

  override renewalWindow(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async #issue(order: CertificateOrder): Promise<Certificate> {
    const now = this.#clock.now();
    const root = await this.#file.open(now);
    return root.sign(order, {
      notBefore: new Date(now.getTime() - hourMs),
      notAfter: new Date(Math.min(now.getTime() + lifeMs, root.notAfter.getTime())),
    });
  }
}

const failed = (reason: AuthorityFailureReason, detail: string): OrderState => ({
  kind: 'failed',
  failure: { reason, detail, retryAt: undefined },
});

export const localRootPurpose = 'local certificate authority';

type Resealing =
  | { readonly kind: 'resealed' | 'nothing to do' }
  | { readonly kind: 'left'; readonly id: string; readonly reason: string };

export class LocalRootFile {
  /** The key and its certificate share one file, so that they always match. */
  readonly #sealedPath: string;
  readonly #rootPath: string;
  readonly #sealer: Sealer;
  #opening: Promise<LocalRoot> | undefined;

  constructor(folder: string, sealer: Sealer) {
    this.#sealedPath = join(folder, 'local-ca.key');
    this.#rootPath = join(folder, 'local-ca.pem');
    this.#sealer = sealer;
  }

  /** @throws Error if SECRET_KEY has changed since the root was created, or the root has expired */
  async open(now: Date): Promise<LocalRoot> {
    this.#opening ??= this.#read(now).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    const root = await this.#opening;
    if (root.notAfter <= now) throw this.#unusable('has expired:');
    return root;
  }

  /** Encrypts the root with the current key if the root exists and uses an older key. */
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
      const reason = 'cannot be decrypted: SECRET_KEY is not the key that encrypted it';
      throw this.#unusable(`${reason}. Restore SECRET_KEY, or`, error);
    }
  }

  #unusable(why: string, cause?: unknown): Error {
    const remedy = `remove ${this.#sealedPath} and ${this.#rootPath}: a new root is created when one is next needed.`;
    return new Error(`${this.#sealedPath} ${why} ${remedy}`, { cause });
  }
}

const readWhole = (path: string): Promise<string | undefined> =>
  outside(() => readFile(path, 'utf8').catch(unless('ENOENT')));

/**
 * Creates the file unless it exists: `link` fails if another process was faster.
 * @returns the file's content
 * @throws Unavailable
 */
const createOnce = (path: string, text: string): Promise<string> =>
  outside(async () => {
    await place(path, text, 0o600, link).catch(unless('EEXIST'));
    return readFile(path, 'utf8');
  });

const replaceWhole = (path: string, text: string, mode = 0o644): Promise<void> =>
  outside(() => place(path, text, mode, rename));

const place = async (
  path: string,
  text: string,
  mode: number,
  put: (draft: string, path: string) => Promise<void>,
): Promise<void> => {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, text, { mode, flush: true });
    await chmod(draft, mode);
    await put(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
};

const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if ((error as { code?: unknown }).code !== code) throw error;
  };

const outside = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    throw new Unavailable('The local certificate authority', error);
  }
};
