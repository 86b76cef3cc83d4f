import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { OrderState } from '../../sites/domain/certificate-order.ts';
import type { AcmeClient } from './acme-client.ts';
import { readDocument, type AuthorizationDocument, type OrderDocument } from './acme-documents.ts';
import { AcmeFailure, failureOf } from './acme-failure.ts';
import { AcmeProblem } from './acme-problem.ts';
import { NoUsableAnswer } from './no-usable-answer.ts';
import { waitMs } from './retry-after.ts';

const pauses = { least: 1000, most: 300_000, otherwise: 1000 };
/** How long an authority may take for an accepted challenge before we trigger it again. */
const provedMs = 60_000;

export const processing = (retryAfter: string | undefined, clock: Clock): OrderState => ({
  kind: 'processing',
  askAgainAfterMs: waitMs(retryAfter, clock.now(), pauses),
});

/** The open challenges of an order's authorizations, or why they failed (RFC 8555, section 7.5). */
export class AcmeAuthorizations {
  readonly #client: AcmeClient;
  readonly #clock: Clock;
  /** Challenges that were accepted: some authorities show them as `pending` until they are done. */
  readonly #proved = new LRUCache<string, true>({ max: 10_000, ttl: provedMs });

  constructor(client: AcmeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async prove(challengeUrl: string, signal: AbortSignal): Promise<void> {
    await this.#client.post(challengeUrl, signal, {});
    this.#proved.set(challengeUrl, true);
  }

  /** What a pending order waits for. @throws AcmeFailure when it waits in vain */
  async awaited({ authorizations }: OrderDocument, signal: AbortSignal): Promise<OrderState> {
    for (const url of authorizations) {
      const { body, headers } = await this.#client.post(url, signal);
      const authorization = readDocument('authorization', body);
      if (authorization.status === 'valid') continue;
      if (authorization.status !== 'pending') throw this.#causeOf(authorization);
      return this.#pending(authorization, headers['retry-after'], signal);
    }
    return processing(undefined, this.#clock);
  }

  /** Why an order is invalid: the challenge says it, where the order often says only that it failed. */
  async cause({ authorizations, error }: OrderDocument, signal: AbortSignal): Promise<AcmeFailure> {
    for (const url of authorizations) {
      const answer = await this.#client.post(url, signal).catch(unlessRefused);
      const authorization = answer && readDocument('authorization', answer.body);
      if (authorization?.status === 'invalid') return this.#causeOf(authorization);
    }
    return this.#endedBy(error, 'order_gone');
  }

  async #pending(
    { challenges }: AuthorizationDocument,
    retryAfter: string | undefined,
    signal: AbortSignal,
  ): Promise<OrderState> {
    const challenge = challenges.find(({ type }) => type === 'http-01');
    if (!challenge?.token) {
      throw new NoUsableAnswer('The certificate authority offers no HTTP-01 challenge.');
    }
    const { status, token, url } = challenge;
    if (status !== 'pending' || this.#proved.has(url)) return processing(retryAfter, this.#clock);
    const keyAuthorization = await this.#client.keyAuthorization(token, signal);
    return { kind: 'challenge', token, keyAuthorization, challengeUrl: url };
  }

  #causeOf({ challenges }: AuthorizationDocument): AcmeFailure {
    const failed = challenges.find(({ error }) => error);
    return this.#endedBy(failed?.error, failed ? 'challenge' : 'order_gone');
  }

  /** @param otherwise the failure without a cause: the order stays invalid, so only a new one helps */
  #endedBy(error: OrderDocument['error'], otherwise: 'challenge' | 'order_gone'): AcmeFailure {
    if (!error) return new AcmeFailure(otherwise, 'The order is not valid any more.');
    const cause = failureOf(error, this.#clock.now());
    const { reason, detail, retryAt } = cause.failure;
    const isOver = reason !== 'unavailable' && reason !== 'rate_limited';
    return isOver ? cause : new AcmeFailure(otherwise, detail, retryAt);
  }
}

const unlessRefused = (error: unknown): undefined => {
  if (!(error instanceof AcmeProblem)) throw error;
};
