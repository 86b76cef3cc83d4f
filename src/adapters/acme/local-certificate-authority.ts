import { randomUUID } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import type { Sealer } from '../../kernel/sealer.ts';
import type {
  AuthorityFailureReason,
  CertificateOrder,
  OrderState,
} from '../../domains/domain/certificates/order.ts';
import type { Certificate } from '../../domains/domain/certificates/certificate.ts';
import { CertificateAuthority, type OrderAnswer } from '../../domains/certificate-ports.ts';
import { LocalRootFile } from './local-root-file.ts';
import { newPrivateKey } from './private-key.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const orderPrefix = 'local:';

/** For development. Clients that trust `local-ca.pem` in the folder trust its certificates. */
export class LocalCertificateAuthority extends CertificateAuthority {
  override readonly name = 'local';
  /** Names in development have no CAA records for it. */
  readonly #file: LocalRootFile;
  readonly #clock: Clock;
  readonly #lifeMs: number;

  /** @param setup `lifeMs`: how long certificates are valid from now on */
  constructor(setup: {
    readonly folder: string;
    readonly sealer: Sealer;
    readonly clock: Clock;
    readonly lifeMs?: number;
  }) {
    super();
    this.#file = new LocalRootFile(setup.folder, setup.sealer);
    this.#clock = setup.clock;
    this.#lifeMs = setup.lifeMs ?? 90 * dayMs;
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

  /** The local authority asks for no proof, so an order is only its url. */
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

  /** Backdated for slow clocks, but less for short lifetimes, because the start decides when to renew. */
  async #issue(order: CertificateOrder): Promise<Certificate> {
    const now = this.#clock.now();
    const root = await this.#file.open(now);
    return root.sign(order, {
      notBefore: new Date(now.getTime() - Math.min(hourMs, this.#lifeMs / 10)),
      notAfter: new Date(Math.min(now.getTime() + this.#lifeMs, root.notAfter.getTime())),
    });
  }
}

const failed = (reason: AuthorityFailureReason, detail: string): OrderState => ({
  kind: 'failed',
  failure: { reason, detail, retryAt: undefined },
});
