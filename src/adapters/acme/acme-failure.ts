import { Unavailable } from '../../kernel/unavailable.ts';
import type {
  AuthorityFailure,
  AuthorityFailureReason,
} from '../../domains/domain/certificates/certificate-status.ts';
import type { ProblemDocument } from './acme-documents.ts';
import { NoUsableAnswer, retryAfter } from './acme-http.ts';
import { AcmeProblem, isRateLimit, shortType } from './acme-problem.ts';

const hourMs = 3_600_000;
/** Longer than any known limit's window; a cap, so that a wrong header cannot stop a host for years. */
const longestWaitMs = 8 * 24 * hourMs;

/** Errors that are not listed are the authority's fault or ours, never the customer's. */
const reasons: ReadonlyMap<string, AuthorityFailureReason> = new Map([
  ['rateLimited', 'rate_limited'],
  ['caa', 'caa'],
  ['dns', 'dns'],
  ['connection', 'challenge'],
  ['incorrectResponse', 'challenge'],
  ['tls', 'challenge'],
  ['unauthorized', 'challenge'],
  ['rejectedIdentifier', 'rejected_name'],
  ['unsupportedIdentifier', 'rejected_name'],
]);

/** Thrown within a step once its outcome is known. */
export class AcmeFailure extends Error {
  override readonly name = 'AcmeFailure';
  readonly failure: AuthorityFailure;

  constructor(reason: AuthorityFailureReason, detail: string, retryAt?: Date) {
    super(detail);
    // Shown and stored, so it is shortened and has no control characters.
    const shown = detail.slice(0, 1000).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
    this.failure = { reason, detail: shown.trim(), retryAt };
  }
}

/** Why a challenge or an order became invalid. A subproblem counts where the problem itself says little. */
export const failureOf = (problem: ProblemDocument, now: Date, header?: string): AcmeFailure => {
  const candidates = [problem, ...problem.subproblems];
  const telling = candidates.find(({ type }) => reasons.has(shortType(type))) ?? problem;
  const reason = reasons.get(shortType(telling.type)) ?? 'unavailable';
  const detail = telling.detail || problem.detail || `The problem is ${shortType(telling.type)}.`;
  return failed(reason, detail, { now, header });
};

/** The failure that an error of a step means. For errors that are no answer, it reveals only their kind. */
export const failureFrom = (error: unknown, now: Date): AuthorityFailure => {
  if (error instanceof AcmeFailure) return error.failure;
  if (error instanceof AcmeProblem) return requestFailure(error, now).failure;
  const isOurs = error instanceof NoUsableAnswer || error instanceof Unavailable;
  const kind = (error as Error | undefined)?.name ?? 'an error';
  const detail = isOurs ? error.message : `The request could not be made: ${kind}.`;
  return new AcmeFailure('unavailable', detail).failure;
};

const requestFailure = (problem: AcmeProblem, now: Date): AcmeFailure => {
  const { document, message, retryAfter: header } = problem;
  if (isRateLimit(problem)) return failed('rate_limited', message, { now, header });
  const cause = failureOf(document, now, header);
  const { reason, retryAt } = cause.failure;
  // For a challenge this means the customer's web server; for a request, our account.
  return reason === 'challenge' ? new AcmeFailure('unavailable', message, retryAt) : cause;
};

const failed = (
  reason: AuthorityFailureReason,
  detail: string,
  { now, header }: { readonly now: Date; readonly header: string | undefined },
): AcmeFailure => {
  const otherwise = reason === 'rate_limited' ? now.getTime() + hourMs : undefined;
  const at = (retryAfter(header, now) ?? retryAtInText(detail))?.getTime() ?? otherwise;
  const most = now.getTime() + longestWaitMs;
  return new AcmeFailure(reason, detail, at === undefined ? at : new Date(Math.min(at, most)));
};

/** Boulder ends the text of a limit with `retry after 2026-01-31 12:00:00 UTC`. */
const retryAtInText = (detail: string): Date | undefined => {
  const [, day, time] = /retry after (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)/i.exec(detail) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const at = new Date(`${day}T${time}Z`);
  return Number.isNaN(at.getTime()) ? undefined : at;
};
