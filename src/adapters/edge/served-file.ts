import mime from 'mime-types';
import type { Encoding, StoredFile } from '../../sites/ports.ts';

/** One form of a file, with everything about its answer that can be prepared. */
export interface ServedForm {
  readonly file: StoredFile;
  readonly encoding: Encoding;
  readonly bytes: number;
  readonly etag: string;
  /** Name, value, name, value … of an answer with the whole form; first those that speak of its content. */
  readonly headers: readonly string[];
}

/** Of an answer that says that the client has this form already. */
export const headersWithoutContent = ({ encoding, headers }: ServedForm): readonly string[] =>
  headers.slice(encoding === 'identity' ? 4 : 6);

type Forms = Readonly<Partial<Record<Encoding, ServedForm>>>;

export class ServedFile {
  readonly file: StoredFile;
  #forms: Forms | undefined;

  constructor(file: StoredFile) {
    this.file = file;
  }

  /** Made on the first request, because most files are never requested. */
  get forms(): Forms {
    return (this.#forms ??= formsOf(this.file));
  }
}

/** Headers of every answer with site content. HSTS lasts only a day, so that it hardly outlives a removal. */
const siteHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Strict-Transport-Security': 'max-age=86400',
};

const formsOf = (file: StoredFile): Forms => ({
  identity: formOf(file, 'identity', file.bytes),
  ...(file.brotli !== undefined && { br: formOf(file, 'br', file.brotli) }),
  ...(file.gzip !== undefined && { gzip: formOf(file, 'gzip', file.gzip) }),
});

const formOf = (file: StoredFile, encoding: Encoding, bytes: number): ServedForm => {
  // Two forms are two representations: a strong validator has to tell them apart (RFC 9110, section 8.8.3).
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
  };
  return { file, encoding, bytes, etag, headers: Object.entries(headers).flat() };
};

const typeOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return mime.contentType(name.includes('.') ? name : '') || 'application/octet-stream';
};

/**
 * Files that a bundler named by content (`app-3f9a1c07.js`) never change; all others are revalidated, so that a new
 * deploy shows at once.
 */
const cacheControlOf = (path: string): string =>
  fingerprinted.test(path)
    ? 'public, max-age=31536000, immutable'
    : 'public, max-age=0, must-revalidate';

/** Hex digits, or eight capitals and digits: a letter and a digit are among them, and nobody names a file like that. */
const fingerprinted =
  /[.-](?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?:[\da-f]{8,}|[\dA-Z]{8})\.(?:js|mjs|css|woff2?)$/;
