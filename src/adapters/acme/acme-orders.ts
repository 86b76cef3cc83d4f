import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Certificate } from '../../domains/domain/certificates/renewal.ts';
import type {
  CertificateOrder,
  ChallengeAnswer,
  OrderState,
} from '../../domains/domain/certificates/certificate-status.ts';
import type { ValidationMethod } from '../../domains/domain/dns/validation.ts';
import {
  NoUsableAnswer,
  readDocument,
  type AuthorizationDocument,
  type OrderDocument,
  AcmeFailure,
  AcmeProblem,
  failureOf,
  isProblem,
  isRateLimit,
  waitMs,
} from './acme-answers.ts';
import { issuedCertificate, namesOf } from './issued-certificate.ts';
import type { AcmeSession, Step } from './acme-session.ts';
import { certificateRequest } from './x509.ts';

const downloadPausesMs = [200, 800];

export const look = async (step: Step, order: CertificateOrder): Promise<OrderState> =>
  stateOf(step, order, await read(step, order));

export const prove = (step: Step, order: CertificateOrder, url: string): Promise<OrderState> =>
  actAndLook(step, order, {
    before: 'challenge',
    act: async () => {
      await step.session.post(url, {});
      step.proved.set(url, true);
    },
  });

export const finalize = async (step: Step, order: CertificateOrder): Promise<OrderState> => {
  const answer = await read(step, order);
  if (answer.document.status !== 'ready') return stateOf(step, order, answer);
  const request = await certificateRequest(namesOf(order), order.privateKey);
  const csr = request.toString('base64url');
  const act = () => step.session.post(answer.document.finalize, { csr });
  return actAndLook(step, order, { before: 'ready', act });
};

/** Checks the order even if the request failed: the request may have succeeded although its answer was lost. */
const actAndLook = async (
  step: Step,
  order: CertificateOrder,
  { before, act }: { readonly before: OrderState['kind']; readonly act: () => Promise<unknown> },
): Promise<OrderState> => {
  const failed = await act().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (failed && isRateLimit(failed.error)) throw failed.error;
  const state = await look(step, order);
  if (failed && state.kind === before) throw failed.error;
  return state;
};

interface OrderAnswer {
  readonly document: OrderDocument;
  readonly retryAfter: string | undefined;
}

const read = async ({ session }: Step, { url }: CertificateOrder): Promise<OrderAnswer> => {
  if (!(await session.has(url))) {
    throw new AcmeFailure('order_gone', 'The order belongs to another certificate authority.');
  }
  try {
    const { body, headers } = await session.post(url);
    return { document: readDocument('order', body), retryAfter: headers['retry-after'] };
  } catch (error) {
    throw isGone(error) ? new AcmeFailure('order_gone', error.message) : error;
  }
};

const isGone = (error: unknown): error is AcmeProblem =>
  isProblem(error, 'unauthorized', 'malformed') ||
  (error instanceof AcmeProblem && error.status === 404);

const stateOf = async (
  step: Step,
  order: CertificateOrder,
  { document, retryAfter }: OrderAnswer,
): Promise<OrderState> => {
  switch (document.status) {
    case 'pending':
      return awaited(step, document, order.method);
    case 'processing':
      return processing(step, retryAfter);
    case 'ready':
      return { kind: 'ready' };
    case 'valid':
      return {
        kind: 'issued',
        certificate: await downloadCertificate(step, order, document.certificate),
      };
    case 'invalid':
      throw await causeOfInvalid(step, document);
  }
};

const pauses = { least: 1000, most: 300_000, otherwise: 1000 };

const processing = ({ clock }: Step, retryAfter?: string): OrderState => ({
  kind: 'processing',
  askAgainAfterMs: waitMs(retryAfter, clock.now(), pauses),
});

const awaited = async (
  step: Step,
  { authorizations }: OrderDocument,
  method: ValidationMethod,
): Promise<OrderState> => {
  const challenges: Challenge[] = [];
  for (const url of authorizations) {
    const { body, headers } = await step.session.post(url);
    const authorization = readDocument('authorization', body);
    if (authorization.status === 'valid') continue;
    if (authorization.status !== 'pending') throw causeOf(step, authorization);
    const challenge = await pendingChallenge(step, authorization, method);
    if (challenge) challenges.push(challenge);
    else if (challenges.length === 0) return processing(step, headers['retry-after']);
    else break;
  }
  const [first, ...others] = challenges;
  if (!first) return processing(step);
  // All answers are published together, because a resolver may cache an incomplete set.
  const answers = [first.answer, ...others.map(({ answer }) => answer)] as const;
  return { kind: 'challenge', answers, challengeUrl: first.url };
};

interface Challenge {
  readonly url: string;
  readonly answer: ChallengeAnswer;
}

/** @returns undefined while the authority checks an answer */
const pendingChallenge = async (
  { session, proved }: Step,
  { challenges }: AuthorizationDocument,
  method: ValidationMethod,
): Promise<Challenge | undefined> => {
  // A challenge of another type may be running. Then its result decides.
  const isUnderWay = challenges.some(
    ({ status, url }) => status === 'processing' || (status === 'pending' && proved.has(url)),
  );
  const challenge = challenges.find(({ type }) => type === method);
  if (!challenge?.token) {
    const name = method.toUpperCase();
    throw new NoUsableAnswer(`The certificate authority offers no ${name} challenge.`);
  }
  const { status, token, url } = challenge;
  if (isUnderWay || status !== 'pending') return undefined;
  const keyAuthorization = await session.keyAuthorization(token);
  const textValue = createHash('sha256').update(keyAuthorization).digest('base64url');
  return { url, answer: { token, keyAuthorization, textValue } };
};

/** The challenge usually names the cause, while the order often says only that it failed. */
const causeOfInvalid = async (
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

const endedBy = (
  { clock }: Step,
  error: OrderDocument['error'],
  otherwise: 'challenge' | 'order_gone',
): AcmeFailure => {
  if (!error) return new AcmeFailure(otherwise, 'The order is no longer valid.');
  const cause = failureOf(error, clock.now());
  const { reason, detail, retryAt } = cause.failure;
  const isOver = reason !== 'unavailable' && reason !== 'rate_limited';
  return isOver ? cause : new AcmeFailure(otherwise, detail, retryAt);
};

const unlessRefused = (error: unknown): undefined => {
  if (!(error instanceof AcmeProblem)) throw error;
};

const downloadCertificate = async (
  { session, clock }: Step,
  order: CertificateOrder,
  url: string | undefined,
): Promise<Certificate> => {
  if (url === undefined) throw new NoUsableAnswer('The order is valid but has no certificate.');
  const text = await download(session, url);
  return issuedCertificate(order, text, clock.now());
};

const download = (
  session: AcmeSession,
  url: string,
  [pauseMs, ...later] = downloadPausesMs,
): Promise<string> =>
  session.post(url).then(
    ({ body }) => body,
    async (error: unknown) => {
      if (pauseMs === undefined || isRateLimit(error) || session.signal.aborted) throw error;
      await delay(pauseMs, undefined, { signal: session.signal }).catch(() => undefined);
      return download(session, url, later);
    },
  );
