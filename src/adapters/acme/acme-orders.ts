import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { CertificateOrder, OrderState } from '../../sites/domain/certificate-order.ts';
import { processing, type AcmeAuthorizations } from './acme-authorizations.ts';
import type { AcmeClient } from './acme-client.ts';
import { readDocument, type OrderDocument } from './acme-documents.ts';
import { AcmeFailure } from './acme-failure.ts';
import { AcmeProblem, isProblem, isRateLimit } from './acme-problem.ts';
import { certificateRequest } from './certificate-request.ts';
import { issuedCertificate } from './issued-certificate.ts';
import { NoUsableAnswer } from './no-usable-answer.ts';

const downloadPausesMs = [200, 800];

interface ReadOrder {
  readonly document: OrderDocument;
  readonly retryAfter: string | undefined;
}

/** The steps of one order (RFC 8555, section 7.4), each bounded by `signal`. They throw on failure. */
export class AcmeOrders {
  readonly #client: AcmeClient;
  readonly #authorizations: AcmeAuthorizations;
  readonly #clock: Clock;

  constructor(client: AcmeClient, authorizations: AcmeAuthorizations, clock: Clock) {
    this.#client = client;
    this.#authorizations = authorizations;
    this.#clock = clock;
  }

  async look(order: CertificateOrder, signal: AbortSignal): Promise<OrderState> {
    return this.#stateOf(order, await this.#read(order, signal), signal);
  }

  prove(order: CertificateOrder, challengeUrl: string, signal: AbortSignal): Promise<OrderState> {
    const act = (): Promise<void> => this.#authorizations.prove(challengeUrl, signal);
    return this.#actAndLook(order, signal, { act, before: 'challenge' });
  }

  async finalize(order: CertificateOrder, signal: AbortSignal): Promise<OrderState> {
    const read = await this.#read(order, signal);
    if (read.document.status !== 'ready') return this.#stateOf(order, read, signal);
    const request = await certificateRequest(order.host, order.privateKey);
    const act = async (): Promise<void> => {
      await this.#client.post(read.document.finalize, signal, {
        csr: request.toString('base64url'),
      });
    };
    return this.#actAndLook(order, signal, { act, before: 'ready' });
  }

  async #stateOf(
    order: CertificateOrder,
    { document, retryAfter }: ReadOrder,
    signal: AbortSignal,
  ): Promise<OrderState> {
    switch (document.status) {
      case 'pending':
        return this.#authorizations.awaited(document, signal);
      case 'processing':
        return processing(retryAfter, this.#clock);
      case 'ready':
        return { kind: 'ready' };
      case 'valid': {
        const text = await this.#download(document.certificate, signal);
        return { kind: 'issued', certificate: issuedCertificate(order, text, this.#clock.now()) };
      }
      case 'invalid':
        throw await this.#authorizations.cause(document, signal);
    }
  }

  /**
   * A request may succeed although its answer is lost, or be refused because it was done before, so only the order's
   * state afterwards counts.
   * @param before the state if nothing was done
   */
  async #actAndLook(
    order: CertificateOrder,
    signal: AbortSignal,
    { act, before }: { act: () => Promise<void>; before: OrderState['kind'] },
  ): Promise<OrderState> {
    const error = await act().then(
      () => undefined,
      (reason: unknown) => reason as Error,
    );
    if (error && isRateLimit(error)) throw error;
    const state = await this.look(order, signal);
    if (error && state.kind === before) throw error;
    return state;
  }

  async #read({ url }: CertificateOrder, signal: AbortSignal): Promise<ReadOrder> {
    if (!(await this.#client.has(url, signal))) {
      throw new AcmeFailure('order_gone', 'The order is one of another certificate authority.');
    }
    try {
      const { body, headers } = await this.#client.post(url, signal);
      return { document: readDocument('order', body), retryAfter: headers['retry-after'] };
    } catch (error) {
      if (isGone(error)) throw new AcmeFailure('order_gone', error.message);
      throw error;
    }
  }

  async #download(url: string | undefined, signal: AbortSignal): Promise<string> {
    if (url === undefined) throw new NoUsableAnswer('The order is valid but has no certificate.');
    for (let tries = 0; ; tries++) {
      try {
        return (await this.#client.post(url, signal)).body;
      } catch (error) {
        const pauseMs = downloadPausesMs[tries];
        if (pauseMs === undefined || isRateLimit(error) || signal.aborted) throw error;
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

/** Of an order's own URL: it is unknown, or of another account, or no order at all. */
const isGone = (error: unknown): error is AcmeProblem =>
  isProblem(error, 'unauthorized', 'malformed') ||
  (error instanceof AcmeProblem && error.status === 404);
