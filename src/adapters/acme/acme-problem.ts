import { readDocument, type ProblemDocument } from './acme-documents.ts';
import type { AcmeAnswer } from './acme-http.ts';

const namespace = 'urn:ietf:params:acme:error:';

/** The short name of an error of RFC 8555, section 6.7; anything else as it is. */
export const shortType = (type: string): string =>
  type.startsWith(namespace) ? type.slice(namespace.length) : type;

/** The authority answered with an error (RFC 7807). */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  readonly status: number;
  readonly type: string;
  readonly document: ProblemDocument;
  /** Whether the authority itself sent it, with one of its error types. */
  readonly isDocumented: boolean;
  readonly retryAfter: string | undefined;

  constructor({ status, headers, body }: AcmeAnswer) {
    const document = problemOf(status, headers['content-type'], body);
    super(document.detail);
    this.status = status;
    this.type = shortType(document.type);
    this.document = document;
    this.isDocumented = document.type.startsWith(namespace);
    this.retryAfter = headers['retry-after'];
  }
}

const problemOf = (
  status: number,
  contentType: string | undefined,
  body: string,
): ProblemDocument => {
  const detail = `The certificate authority answered with the status ${status}.`;
  const unknown = { type: 'about:blank', detail, subproblems: [] };
  if (!contentType?.includes('json')) return unknown;
  try {
    const document = readDocument('problem', body);
    return document.detail === '' ? { ...document, detail } : document;
  } catch {
    return unknown;
  }
};

export const isProblem = (error: unknown, ...types: readonly string[]): error is AcmeProblem =>
  error instanceof AcmeProblem && types.includes(error.type);

/** Also what a proxy in front of the authority says without a problem document (RFC 6585, section 4). */
export const isRateLimit = (error: unknown): boolean =>
  error instanceof AcmeProblem && (error.type === 'rateLimited' || error.status === 429);
