import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { OrderState } from '../../domains/domain/certificates/order.ts';
import { readDocument, type AuthorizationDocument, type OrderDocument } from './acme-documents.ts';
import { AcmeFailure, failureOf } from './acme-failure.ts';
import { NoUsableAnswer, waitMs } from './acme-http.ts';
import { AcmeProblem } from './acme-problem.ts';
import type { AcmeSession } from './acme-session.ts';

export interface Step {
  readonly session: AcmeSession;
  readonly clock: Clock;
  /** URLs of challenges that were accepted: some authorities show them as `pending` until they are done. */
  readonly proved: LRUCache<string, true>;
}

const pauses = { least: 1000, most: 300_000, otherwise: 1000 };

export const processing = ({ clock }: Step, retryAfter?: string): OrderState => ({
  kind: 'processing',
  askAgainAfterMs: waitMs(retryAfter, clock.now(), pauses),
});

/** What a pending order waits for (RFC 8555, section 7.5). @throws AcmeFailure when it waits in vain */
export const awaited = async (
  step: Step,
  { authorizations }: OrderDocument,
): Promise<OrderState> => {
  for (const url of authorizations) {
    const { body, headers } = await step.session.post(url);
    const authorization = readDocument('authorization', body);
    if (authorization.status === 'valid') continue;
    if (authorization.status !== 'pending') throw causeOf(step, authorization);
    return pending(step, authorization, headers['retry-after']);
  }
  return processing(step);
};

const pending = async (
  step: Step,
  { challenges }: AuthorizationDocument,
  retryAfter: string | undefined,
): Promise<OrderState> => {
  const challenge = challenges.find(({ type }) => type === 'http-01');
  if (!challenge?.token) {
    throw new NoUsableAnswer('The certificate authority offers no HTTP-01 challenge.');
  }
  const { status, token, url } = challenge;
  if (status !== 'pending' || step.proved.has(url)) return processing(step, retryAfter);
  const keyAuthorization = await step.session.keyAuthorization(token);
  return { kind: 'challenge', token, keyAuthorization, challengeUrl: url };
};

/** Why an order is invalid: the challenge says it, where the order often says only that it failed. */
export const causeOfInvalid = async (
  step: Step,
  { authorizations, error }: OrderDocument,
): Promise<AcmeFailure> => {
  for (const url of authorizations) {
    const answer = await step.session.post(url).catch(unlessRefused);
    const authorization = answer && readDocument('authorization', answer.body);
    if (authorization?.status === 'invalid') return causeOf(step, authorization);
  }
  return endedBy(step, error, 'order_gone');
};

const causeOf = (step: Step, { challenges }: AuthorizationDocument): AcmeFailure => {
  const failed = challenges.find(({ error }) => error);
  return endedBy(step, failed?.error, failed ? 'challenge' : 'order_gone');
};

/** @param otherwise the failure without a cause: the order stays invalid, so only a new one helps */
const endedBy = (
  { clock }: Step,
  error: OrderDocument['error'],
  otherwise: 'challenge' | 'order_gone',
): AcmeFailure => {
  if (!error) return new AcmeFailure(otherwise, 'The order is not valid any more.');
  const cause = failureOf(error, clock.now());
  const { reason, detail, retryAt } = cause.failure;
  const isOver = reason !== 'unavailable' && reason !== 'rate_limited';
  return isOver ? cause : new AcmeFailure(otherwise, detail, retryAt);
};

const unlessRefused = (error: unknown): undefined => {
  if (!(error instanceof AcmeProblem)) throw error;
};
