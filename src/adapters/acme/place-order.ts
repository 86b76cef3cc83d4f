import { AcmeFailure, AcmeProblem, isProblem, isRateLimit } from './acme-failure.ts';
import type { AcmeSession } from './acme-session.ts';
import { certificateId } from './x509.ts';
import { NoUsableAnswer } from './acme-documents.ts';

interface PlacedOrder {
  readonly url: string;
  /** Accepted as a renewal that counts against no limit (RFC 9773, section 5). */
  readonly isExempt: boolean;
  /** The authority does not offer the profile that was wanted, so it uses its default. */
  readonly lacksProfile: boolean;
}

export interface WantedOrder {
  readonly names: readonly string[];
  /** Chain of the certificate that the new one will replace. */
  readonly replaces: string | undefined;
  /** Name of a kind of certificate (draft-ietf-acme-profiles). */
  readonly profile: string | undefined;
}

/**
 * Asks for an order for one certificate (RFC 8555, section 7.4). No dates: public authorities refuse them.
 * @returns undefined where the authority refuses what it replaces: any other order counts
 */
export const placeOrder = async (
  session: AcmeSession,
  { names, replaces, profile }: WantedOrder,
): Promise<PlacedOrder | undefined> => {
  const { renewalInfo } = await session.directory();
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  const place = (extra: object) => placeWithProfile(session, { identifiers, ...extra }, profile);
  const replaced = renewalInfo && replaces && certificateId(replaces);
  if (replaced) {
    const exempt = await place({ replaces: replaced }).catch(unlessAboutReplacing);
    return exempt && { ...exempt, isExempt: true };
  }
  const counted = await place({}).catch((error: unknown) => {
    throw isAboutNames(error, names) ? new AcmeFailure('rejected_name', error.message) : error;
  });
  return { ...counted, isExempt: false };
};

/** A profile that the authority no longer knows, or never did, must not stop a renewal. */
const placeWithProfile = async (
  session: AcmeSession,
  payload: object,
  profile: string | undefined,
): Promise<Omit<PlacedOrder, 'isExempt'>> => {
  const { newOrder, meta } = await session.directory();
  const place = async (extra: object): Promise<string> => {
    const { headers } = await session.post(newOrder, { ...payload, ...extra });
    if (headers.location) return headers.location;
    throw new NoUsableAnswer('The certificate authority named no order.');
  };
  if (profile !== undefined && Object.hasOwn(meta?.profiles ?? {}, profile)) {
    const url = await place({ profile }).catch(unlessAboutProfile);
    if (url !== undefined) return { url, lacksProfile: false };
  }
  return { url: await place({}), lacksProfile: profile !== undefined };
};

const unlessAboutProfile = (error: unknown): undefined => {
  if (!isProblem(error, 'invalidProfile')) throw error;
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
const isAboutNames = (error: unknown, names: readonly string[]): error is AcmeProblem =>
  isProblem(error, 'malformed') &&
  (names.some((name) => error.message.includes(name)) || /\bidentifiers?\b/i.test(error.message));
