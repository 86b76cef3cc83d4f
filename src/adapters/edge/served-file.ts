import mime from 'mime-types';
import Negotiator from 'negotiator';
import type { Encoding, StoredFile } from '../../sites/ports.ts';

export interface ServedForm {
  readonly file: StoredFile;
  readonly encoding: Encoding;
  readonly bytes: number;
  readonly etag: string;
  /** Alternating names and values for a 200 answer. Content headers come first. */
  readonly headers: readonly string[];
}

export const headersWithoutContent = ({ encoding, headers }: ServedForm): readonly string[] =>
  headers.slice(encoding === 'identity' ? 4 : 6);

type Forms = Readonly<Partial<Record<Encoding, ServedForm>>>;

export class ServedFile {
  readonly file: StoredFile;
  readonly #isPreview: boolean;
  #forms: Forms | undefined;

  constructor(file: StoredFile, isPreview = false) {
    this.file = file;
    this.#isPreview = isPreview;
  }

  get forms(): Forms {
    return (this.#forms ??= formsOf(this.file, this.#isPreview));
  }
}

/** HSTS lasts one day, so that it expires soon after a domain is removed. */
const siteHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Strict-Transport-Security': 'max-age=86400',
};

/** Search engines must not index previews, and a deploy may disappear at any time. */
const previewHeaders = { 'X-Robots-Tag': 'noindex', 'Cache-Control': 'no-store' };

const formsOf = (file: StoredFile, isPreview: boolean): Forms => {
  const other = isPreview ? previewHeaders : {};
  return {
    identity: formOf(file, ['identity', file.bytes], other),
    ...(file.brotli !== undefined && { br: formOf(file, ['br', file.brotli], other) }),
    ...(file.gzip !== undefined && { gzip: formOf(file, ['gzip', file.gzip], other) }),
  };
};

const formOf = (
  file: StoredFile,
  [encoding, bytes]: readonly [Encoding, number],
  other: Readonly<Record<string, string>>,
): ServedForm => {
  // Each encoding needs its own strong validator (RFC 9110, section 8.8.3).
  const etag = encoding === 'identity' ? `"${file.hash}"` : `"${file.hash}-${encoding}"`;
  const isNegotiated = file.brotli !== undefined || file.gzip !== undefined;
  const headers = {
    'Content-Type': typeOf(file.path),
    'Content-Length': String(bytes),
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    ETag: etag,
    'Cache-Control': cacheControlOf(file.path),
    'Accept-Ranges': 'bytes',
    ...(isNegotiated && { Vary: 'Accept-Encoding' }),
    ...siteHeaders,
    ...other,
  };
  return { file, encoding, bytes, etag, headers: Object.entries(headers).flat() };
};

const typeOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return mime.contentType(name.includes('.') ? name : '') || 'application/octet-stream';
};

/** Files named by content hash (`app-3f9a1c07.js`) never change. Others are revalidated, to show new deploys. */
const cacheControlOf = (path: string): string =>
  fingerprinted.test(path)
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=0, must-revalidate';

/** Eight or more hex digits, or exactly eight capitals and digits, with at least one letter and one digit. */
const fingerprinted =
  /[.-](?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?:[\da-f]{8,}|[\dA-Z]{8})\.(?:js|mjs|css|woff2?)$/;

const known = new Map<string, readonly string[]>();
const mostKnown = 1000;
const longestAccepted = 256;
const longestHeader = 2048;

/** Chooses the smallest form that the client accepts (RFC 9110, section 12.5.3). */
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

type Portion =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' };

const whole: Portion = { kind: 'whole' };

/**
 * Chooses the range; RFC 9110, section 14, allows the whole file for invalid or several ones.
 * @param condition `If-Range`
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
  const first = from === '' ? Math.max(0, bytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (to !== '' && Number(from) > Number(to)) return whole;
  return first > last ? { kind: 'unsatisfiable' } : { kind: 'part', first, last };
};

const oneRange = /^bytes=(\d*)-(\d*)$/i;

/** Checks whether the client has named this version. `If-Match` compares strongly (RFC 9110, section 13.1.1). */
export const isNamed = (etag: string, condition: string): boolean =>
  condition.length <= longestHeader &&
  (condition.trim() === '*' || condition.split(',').some((one) => one.trim() === etag));

/** Checks whether the client already has this version. `If-None-Match` compares weakly (RFC 9110, section 13.1.2). */
export const isKnown = (etag: string, condition: string | undefined): boolean =>
  condition !== undefined && isNamed(etag, condition.replaceAll('W/"', '"'));

export type PathMatch =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'folder'; readonly location: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'malformed' };

/** A valid path of 1024 bytes is rarely longer, even decomposed and with each byte encoded. */
const longestPath = 9 * 1024;

const missing: PathMatch = { kind: 'missing' };
const malformed: PathMatch = { kind: 'malformed' };

/**
 * Maps `/` to `index.html`, and `/about` to the first of `about`, `about.html` and `about/index.html`.
 * @param target raw path and query
 * @param has checks the site's own file list, so that no path can leave the site
 */
export const matchPath = (target: string, has: (path: string) => boolean): PathMatch => {
  const query = target.indexOf('?');
  const raw = query === -1 ? target : target.slice(0, query);
  if (raw.length > longestPath) return missing;
  const path = raw.includes('%') ? decoded(raw) : raw;
  if (path === undefined || !path.startsWith('/') || unsafe.test(path)) return malformed;
  const file = path.slice(1);
  if (file === '' || file.endsWith('/')) {
    const index = file === '' ? 'index.html' : `${file}index.html`;
    return has(index) ? { kind: 'file', path: index } : missing;
  }
  if (has(file)) return { kind: 'file', path: file };
  if (has(`${file}.html`)) return { kind: 'file', path: `${file}.html` };
  if (!has(`${file}/index.html`)) return missing;
  return { kind: 'folder', location: `${raw}/${query === -1 ? '' : target.slice(query)}` };
};

/** Control characters, backslashes, empty and dot segments never appear in published paths. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const unsafe = /[\u0000-\u001f\u007f\\]|\/\/|\/\.{1,2}(\/|$)/;

/** Decodes a path. Refuses an encoded slash, because two URLs would name the same file. */
const decoded = (raw: string): string | undefined => {
  if (/%2f|%5c/i.test(raw)) return undefined;
  try {
    return decodeURIComponent(raw).normalize('NFC');
  } catch {
    return undefined;
  }
};
