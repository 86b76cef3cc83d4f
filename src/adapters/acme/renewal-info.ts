import type { RenewalWindow } from '../../domains/certificate-ports.ts';
import type { Step } from './acme-authorizations.ts';
import { readDocument } from './acme-documents.ts';
import { waitMs } from './acme-http.ts';
import { certificateId } from './x509.ts';

const minuteMs = 60_000;
/** RFC 9773, section 4.3: an authority's retry time is limited to between a minute and a day. */
const pauses = { least: minuteMs, most: 24 * 60 * minuteMs, otherwise: 6 * 60 * minuteMs };

/**
 * When the authority wants a certificate renewed (RFC 9773, section 4.2).
 * @param chain PEM
 * @returns undefined where it offers no window; whether that makes sense is not its business
 * @throws AcmeProblem, NoUsableAnswer
 */
export const renewalWindow = async (
  { session, clock }: Step,
  chain: string,
): Promise<RenewalWindow | undefined> => {
  const id = certificateId(chain);
  if (id === undefined) return undefined;
  const { renewalInfo } = await session.directory();
  if (renewalInfo === undefined) return undefined;
  const { body, headers } = await session.get(`${renewalInfo.replace(/\/$/, '')}/${id}`);
  const { start, end } = readDocument('renewalInfo', body).suggestedWindow;
  const now = clock.now();
  const askAgainAt = new Date(now.getTime() + waitMs(headers['retry-after'], now, pauses));
  return { start, end, askAgainAt };
};
