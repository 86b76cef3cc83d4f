import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { Sealer } from '../../kernel/sealer.ts';
import type {
  AuthorityFailureReason,
  CertificateOrder,
  OrderState,
} from '../../sites/domain/certificate-order.ts';
import type { Certificate, Validity } from '../../sites/domain/certificate.ts';
import { CertificateAuthority, type OrderAnswer } from '../../sites/ports.ts';
import type { LocalRoot, RootPair } from './local-root.ts';
import { newPrivateKey } from './private-key.ts';
import { createOnce, readWhole, replaceWhole } from './whole-file.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const rootLifeMs = 3650 * dayMs;
const purpose = 'local certificate authority';
const orderPrefix = 'local:';

/**
 * For development. Creates its root on first use, in the folder that all processes share. Clients that trust
 * `local-ca.pem` trust its certificates.
 */
export class LocalCertificateAuthority extends CertificateAuthority {
  /** Names in development have no CAA records for it. */
  override readonly issuers: readonly string[] = [];
  readonly #sealedPath: string;
  readonly #rootPath: string;
  readonly #sealer: Sealer;
  readonly #clock: Clock;
  readonly #lifeMs: number;
  #opening: Promise<LocalRoot> | undefined;

  /** @param setup `lifeMs`: how long certificates are valid from now on */
  constructor(setup: {
    readonly folder: string;
    readonly sealer: Sealer;
    readonly clock: Clock;
    readonly lifeMs?: number;
  }) {
    super();
    // One file holds the key and its certificate, so that they always belong together.
    this.#sealedPath = join(setup.folder, 'local-ca.key');
    this.#rootPath = join(setup.folder, 'local-ca.pem');
    this.#sealer = setup.sealer;
    this.#clock = setup.clock;
    this.#lifeMs = setup.lifeMs ?? 90 * dayMs;
  }

  override accountUri(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  override newPrivateKey(): Promise<string> {
    return newPrivateKey();
  }

  /** The local authority asks for no proof, so an order is only its url. */
  override order(): Promise<Extract<OrderAnswer, { kind: 'ordered' }>> {
    const url = `${orderPrefix}${randomUUID()}`;
    return Promise.resolve({ kind: 'ordered', url, isExempt: false });
  }

  override async look(order: CertificateOrder): Promise<OrderState> {
    if (!order.url.startsWith(orderPrefix)) {
      return failed('order_gone', `${order.url} is no order of the local authority.`);
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

  /** Re-seals the root under the current key, if it exists and is sealed under another. */
  async resealRoot(): Promise<
    | { readonly kind: 'resealed' | 'nothing to do' }
    | { readonly kind: 'left'; readonly id: string; readonly reason: string }
  > {
    const sealed = await readWhole(this.#sealedPath);
    if (sealed === undefined || this.#sealer.isCurrent(sealed, purpose)) {
      return { kind: 'nothing to do' };
    }
    try {
      const pair = this.#unseal(sealed);
      await replaceWhole(this.#sealedPath, this.#seal(pair), 0o600);
      return { kind: 'resealed' };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'left', id: this.#sealedPath, reason };
    }
  }

  /** @throws Error when SECRET_KEY is not the one the root was made with, or the root has expired */
  async #issue({ host, privateKey }: CertificateOrder): Promise<Certificate> {
    const root = await this.#root();
    const now = this.#clock.now().getTime();
    const rootEnd = root.notAfter.getTime();
    if (rootEnd <= now) throw this.#unusable('has expired:');
    const notAfter = wholeSeconds(Math.min(now + this.#lifeMs, rootEnd));
    // Backdated for slow clocks, but less for short lifetimes, because the start decides when to renew.
    const notBefore = wholeSeconds(now - Math.min(hourMs, this.#lifeMs / 10));
    return root.sign(host, privateKey, { notBefore, notAfter });
  }

  /** Opened once; a failure is not cached. */
  #root(): Promise<LocalRoot> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<LocalRoot> {
    // Loaded on first use: loading takes longer than most commands, which issue nothing.
    const { LocalRoot, newRoot } = await import('./local-root.ts');
    const sealed =
      (await readWhole(this.#sealedPath)) ??
      (await createOnce(this.#sealedPath, this.#seal(await newRoot(this.#rootValidity()))));
    const root = new LocalRoot(this.#unseal(sealed));
    if ((await readWhole(this.#rootPath)) !== root.certificate) {
      await replaceWhole(this.#rootPath, root.certificate);
    }
    return root;
  }

  #rootValidity(): Validity {
    const now = this.#clock.now().getTime();
    return { notBefore: wholeSeconds(now - hourMs), notAfter: wholeSeconds(now + rootLifeMs) };
  }

  #seal(pair: RootPair): string {
    return this.#sealer.seal(JSON.stringify(pair), purpose);
  }

  #unseal(sealed: string): RootPair {
    try {
      return JSON.parse(this.#sealer.open(sealed, purpose)) as RootPair;
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

const failed = (reason: AuthorityFailureReason, detail: string): OrderState => ({
  kind: 'failed',
  failure: { reason, detail, retryAt: undefined },
});

/** A certificate knows no fractions (RFC 5280, section 4.1.2.5). */
const wholeSeconds = (milliseconds: number): Date =>
  new Date(Math.floor(milliseconds / 1000) * 1000);
