import Negotiator from 'negotiator';
import type { Encoding, StoredFile } from '../../sites/ports.ts';

/** Browsers send only a few different values, so parsed ones are cached. */
const known = new Map<string, readonly string[]>();
const mostKnown = 1000;
/** Longer than any browser sends; it is not worth reading. */
const longestAccepted = 256;
/** The same limit for the other parsed headers. */
const longestHeader = 2048;

/** The smallest form of a file that the client takes (RFC 9110, section 12.5.3). */
export const encodingFor = (file: StoredFile, accepted: string | undefined): Encoding => {
  if (accepted === undefined || accepted.length > longestAccepted) return 'identity';
  const encodings = known.get(accepted) ?? remember(accepted);
  if (file.brotli !== undefined && encodings.includes('br')) return 'br';
  return file.gzip !== undefined && encodings.includes('gzip') ? 'gzip' : 'identity';
};

const remember = (accepted: string): readonly string[] => {
  const headers = { 'accept-encoding': accepted };
  const encodings = new Negotiator({ headers }).encodings(['br', 'gzip', 'identity']);
  if (known.size < mostKnown) known.set(accepted, encodings);
  return encodings;
};

export type Portion =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' };

const whole: Portion = { kind: 'whole' };

/**
 * Which bytes are asked for (RFC 9110, section 14). An invalid range, or several at once, gets the whole file, which
 * the RFC allows.
 * @param condition `If-Range`: the range counts only for that very version
 */
export const portionOf = (
  bytes: number,
  etag: string,
  range: string | undefined,
  condition: string | undefined,
): Portion => {
  if (range === undefined || range.length > longestHeader) return whole;
  if (condition !== undefined && condition !== etag) return whole;
  const [, from = '', to = ''] = oneRange.exec(range) ?? [];
  if (from === '' && to === '') return whole;
  // Without a start it is a suffix range: the last bytes of the file.
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (to !== '' && Number(from) > Number(to)) return whole;
  return first > last ? { kind: 'unsatisfiable' } : { kind: 'part', first, last };
};

const oneRange = /^bytes=(\d*)-(\d*)$/i;

/** Whether the client has this version already: `If-None-Match` compares weakly (RFC 9110, section 13.1.2). */
export const isKnown = (etag: string, condition: string | undefined): boolean =>
  condition !== undefined &&
  condition.length <= longestHeader &&
  (condition === etag ||
    condition.trim() === '*' ||
    condition.split(',').some((one) => one.trim().replace(/^W\//, '') === etag));
