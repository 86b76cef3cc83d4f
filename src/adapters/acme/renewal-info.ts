import 'reflect-metadata';
import { AuthorityKeyIdentifierExtension, X509Certificate } from '@peculiar/x509';
import type { RenewalWindow } from '../../sites/ports.ts';
import { readDocument } from './acme-documents.ts';
import type { AcmeAnswer } from './acme-http.ts';
import { waitMs } from './retry-after.ts';

const minuteMs = 60_000;
/** RFC 9773, section 4.3: an authority's retry time is limited to between a minute and a day. */
const pauses = { least: minuteMs, most: 24 * 60 * minuteMs, otherwise: 6 * 60 * minuteMs };

const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

/** A number is positive in DER when its first bit is 0; the package leaves out the byte that is there for that. */
const positive = (hex: string): string => (/^[89a-f]/i.test(hex) ? `00${hex}` : hex);

/**
 * A certificate's name in requests (RFC 9773, section 4.1).
 * @param chain PEM, of which the first one counts
 * @returns undefined for a certificate that has none, or for no certificate
 */
export const certificateId = (chain: string): string | undefined => {
  try {
    const leaf = new X509Certificate(chain);
    const keyId = leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
    return keyId && `${base64url(keyId)}.${base64url(positive(leaf.serialNumber))}`;
  } catch {
    return undefined;
  }
};

/** @returns undefined for a window that ends before it begins @throws NoUsableAnswer */
export const readRenewalWindow = (
  { body, headers }: AcmeAnswer,
  now: Date,
): RenewalWindow | undefined => {
  const { start, end } = readDocument('renewalInfo', body).suggestedWindow;
  const askAgainAt = new Date(now.getTime() + waitMs(headers['retry-after'], now, pauses));
  return end > start ? { start, end, askAgainAt } : undefined;
};
