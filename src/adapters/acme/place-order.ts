import type { AcmeClient } from './acme-client.ts';
import { AcmeFailure } from './acme-failure.ts';
import { AcmeProblem, isProblem, isRateLimit } from './acme-problem.ts';
import { NoUsableAnswer } from './no-usable-answer.ts';
import { certificateId } from './renewal-info.ts';

export interface Wanted {
  readonly host: string;
  /** Chain of the certificate that the new one will replace. */
  readonly replaces: string | undefined;
}

export interface PlacedOrder {
  readonly url: string;
  /** Accepted as a renewal that counts against no limit (RFC 9773, section 5). */
  readonly isExempt: boolean;
}

/** Asks for an order for one name (RFC 8555, section 7.4). No dates: public authorities refuse them. */
export const placeOrder = async (
  client: AcmeClient,
  { host, replaces }: Wanted,
  signal: AbortSignal,
): Promise<PlacedOrder> => {
  const { newOrder, renewalInfo } = await client.directory(signal);
  const place = async (extra: object): Promise<string> => {
    const payload = { identifiers: [{ type: 'dns', value: host }], ...extra };
    const { headers } = await client.post(newOrder, signal, payload);
    if (headers.location) return headers.location;
    throw new NoUsableAnswer('The certificate authority named no order.');
  };
  const replaced = renewalInfo && replaces && certificateId(replaces);
  if (replaced) {
    const url = await place({ replaces: replaced }).catch(unlessAboutReplacing);
    if (url !== undefined) return { url, isExempt: true };
  }
  const url = await place({}).catch((error: unknown) => {
    throw isAboutName(error, host) ? new AcmeFailure('rejected_name', error.message) : error;
  });
  return { url, isExempt: false };
};

/**
 * Whether an error of `placeOrder` proves that the authority created no order, because the authority itself says so.
 * Errors of proxies in between, and server errors, prove nothing; a rate limit may count the request.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof AcmeFailure ||
  (error instanceof AcmeProblem && error.isDocumented && error.status < 500 && !isRateLimit(error));

/** The certificate may be replaced already, or be of another account or authority: that costs only a privilege. */
const unlessAboutReplacing = (error: unknown): undefined => {
  const isAbout =
    isProblem(error, 'alreadyReplaced', 'malformed', 'unauthorized') ||
    (error instanceof AcmeProblem && error.status === 404);
  if (!isAbout) throw error;
};

/** `malformed` may mean anything, but only an error about the name itself may end a customer's domain. */
const isAboutName = (error: unknown, host: string): error is AcmeProblem =>
  isProblem(error, 'malformed') &&
  (error.message.includes(host) || /\bidentifiers?\b/i.test(error.message));
