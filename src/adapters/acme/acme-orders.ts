import type { CertificateOrder, OrderState } from '../../domains/domain/certificates/order.ts';
import { awaited, causeOfInvalid, processing, type Step } from './acme-authorizations.ts';
import { readDocument, type OrderDocument } from './acme-documents.ts';
import { AcmeFailure } from './acme-failure.ts';
import { AcmeProblem, isProblem, isRateLimit } from './acme-problem.ts';
import { downloadCertificate, namesOf } from './issued-certificate.ts';
import { certificateRequest } from './x509.ts';

/** The steps of one order (RFC 8555, section 7.4). They throw on failure. */
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

/**
 * A request may succeed although its answer is lost, or be refused because it was done before, so only the order's
 * state afterwards counts.
 * @param before the state if nothing was done
 */
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

/** Of an order's own URL: it is unknown, or of another account, or no order at all. */
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
