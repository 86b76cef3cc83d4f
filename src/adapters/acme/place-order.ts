import { AcmeFailure } from './acme-failure.ts';
import { NoUsableAnswer } from './acme-http.ts';
import { AcmeProblem, isProblem, isRateLimit } from './acme-problem.ts';
import type { AcmeSession } from './acme-session.ts';

interface PlacedOrder {
  readonly url: string;
  /** Accepted as a renewal that counts against no limit (RFC 9773, section 5). */
  readonly isExempt: boolean;
}

/**
 * Asks for an order for one name (RFC 8555, section 7.4). No dates: public authorities refuse them.
 * @param replaces chain of the certificate that the new one will replace
 */
export const placeOrder = async (
  session: AcmeSession,
  host: string,
  replaces?: string,
): Promise<PlacedOrder> => {
  const { newOrder, renewalInfo } = await session.directory();
  const place = async (extra: object): Promise<string> => {
    const payload = { identifiers: [{ type: 'dns', value: host }], ...extra };
    const { headers } = await session.post(newOrder, payload);
    if (headers.location) return headers.location;
    throw new NoUsableAnswer('The certificate authority named no order.');
  };
  const replaced = renewalInfo && replaces && (await idOf(replaces));
  const url = replaced && (await place({ replaces: replaced }).catch(unlessAboutReplacing));
  if (url) return { url, isExempt: true };
  const counted = await place({}).catch((error: unknown) => {
    throw isAboutName(error, host) ? new AcmeFailure('rejected_name', error.message) : error;
  });
  return { url: counted, isExempt: false };
};

const idOf = async (chain: string): Promise<string | undefined> =>
  (await import('./x509.ts')).certificateId(chain);

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
