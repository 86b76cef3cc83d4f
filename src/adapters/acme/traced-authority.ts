import type { CertificateOrder, OrderState } from '../../domains/domain/certificates/order.ts';
import {
  CertificateAuthority,
  type OrderAnswer,
  type RenewalWindow,
} from '../../domains/certificate-ports.ts';
import type { StepFacts, Tracer } from '../../kernel/tracer.ts';

/** The same authority; each step of an order is a step of a trace. Its URLs are left out: they name orders and accounts. */
export class TracedAuthority extends CertificateAuthority {
  override readonly name: string;
  override readonly issuers: readonly string[];
  readonly #authority: CertificateAuthority;
  readonly #tracer: Tracer;
  /** Where it is. */
  readonly #place: StepFacts;

  /** @param directoryUrl undefined for the local one */
  constructor(authority: CertificateAuthority, tracer: Tracer, directoryUrl: string | undefined) {
    super();
    this.name = authority.name;
    this.issuers = authority.issuers;
    this.#authority = authority;
    this.#tracer = tracer;
    this.#place =
      directoryUrl === undefined ? {} : { 'server.address': new URL(directoryUrl).hostname };
  }

  override accountUri(): Promise<string | undefined> {
    return this.#authority.accountUri();
  }

  override newPrivateKey(): Promise<string> {
    return this.#authority.newPrivateKey();
  }

  override order(host: string, replaces?: string, also?: readonly string[]): Promise<OrderAnswer> {
    return this.#traced('order', host, () => this.#authority.order(host, replaces, also));
  }

  override look(order: CertificateOrder): Promise<OrderState> {
    return this.#traced('look', order.host, () => this.#authority.look(order));
  }

  override prove(order: CertificateOrder, challengeUrl: string): Promise<OrderState> {
    return this.#traced('prove', order.host, () => this.#authority.prove(order, challengeUrl));
  }

  override finalize(order: CertificateOrder): Promise<OrderState> {
    return this.#traced('finalize', order.host, () => this.#authority.finalize(order));
  }

  override renewalWindow(chain: string): Promise<RenewalWindow | 'silent' | undefined> {
    const facts = { ...this.#place, 'animal_store.acme.step': 'renewalWindow' };
    return this.#tracer.step({ name: 'ACME renewalWindow', kind: 'client', facts }, () =>
      this.#authority.renewalWindow(chain),
    );
  }

  #traced<Answer extends OrderAnswer | OrderState>(
    step: string,
    host: string,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    const facts = {
      ...this.#place,
      'animal_store.acme.step': step,
      'animal_store.acme.host': host,
    };
    return this.#tracer.step({ name: `ACME ${step}`, kind: 'client', facts }, async (span) => {
      const answer = await work();
      span.tell({ 'animal_store.acme.outcome': answer.kind });
      if (answer.kind === 'failed') span.fail(answer.failure.reason);
      return answer;
    });
  }
}
