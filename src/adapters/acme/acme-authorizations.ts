import { createHash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import type { OrderState } from '../../domains/domain/certificates/certificate-status.ts';
import type { ValidationMethod } from '../../domains/domain/dns/validation.ts';
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
  method: ValidationMethod,
): Promise<OrderState> => {
  const challenges: DnsChallenge[] = [];
  for (const url of authorizations) {
    const { body, headers } = await step.session.post(url);
    const authorization = readDocument('authorization', body);
    if (authorization.status === 'valid') continue;
    if (authorization.status !== 'pending') throw causeOf(step, authorization);
    const state = await pending(step, authorization, {
      method,
      retryAfter: headers['retry-after'],
    });
    if (!isPublishedWithOthers(state)) return challenges[0] ?? state;
    challenges.push(state);
  }
  const [first] = challenges;
  // Published together, because a resolver may remember the first one for the next question.
  return first
    ? { ...first, values: challenges.flatMap(({ values }) => values) }
    : processing(step);
};

type DnsChallenge = Extract<OrderState, { readonly values: readonly string[] }>;

const isPublishedWithOthers = (state: OrderState): state is DnsChallenge =>
  state.kind === 'challenge' && 'values' in state;

const pending = async (
  step: Step,
  { challenges }: AuthorizationDocument,
  {
    method,
    retryAfter,
  }: { readonly method: ValidationMethod; readonly retryAfter?: string | undefined },
): Promise<OrderState> => {
  // The DNS may have changed since another kind was answered: that one decides.
  const isUnderWay = challenges.some(
    ({ status, url }) => status === 'processing' || (status === 'pending' && step.proved.has(url)),
  );
  const challenge = challenges.find(({ type }) => type === method);
  if (!challenge?.token) {
    const name = method.toUpperCase();
    throw new NoUsableAnswer(`The certificate authority offers no ${name} challenge.`);
  }
  const { status, token, url: challengeUrl } = challenge;
  if (isUnderWay || status !== 'pending') return processing(step, retryAfter);
  const keyAuthorization = await step.session.keyAuthorization(token);
  return challengeBy[method]({ token, keyAuthorization, challengeUrl });
};

interface Offered {
  readonly token: string;
  readonly keyAuthorization: string;
  readonly challengeUrl: string;
}

const challengeBy: Readonly<Record<ValidationMethod, (offered: Offered) => OrderState>> = {
  'dns-01': ({ keyAuthorization, challengeUrl }) => {
    const values = [dnsValueOf(keyAuthorization)];
    return { kind: 'challenge', method: 'dns-01', values, challengeUrl };
  },
  'http-01': (offered) => ({ kind: 'challenge', method: 'http-01', ...offered }),
};

/** RFC 8555, section 8.4. */
const dnsValueOf = (keyAuthorization: string): string =>
  createHash('sha256').update(keyAuthorization).digest('base64url');

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
