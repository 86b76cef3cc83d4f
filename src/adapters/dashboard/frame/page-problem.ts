import { TooMany } from '../../../access/domain/access-error.ts';
import { DomainError } from '../../../kernel/decision.ts';
import { Unavailable } from '../../../kernel/ports.ts';
import { html } from './html.ts';
import type { Page } from './screen.ts';

export class PageProblem extends Error {
  override readonly name = 'PageProblem';
  readonly status: number;
  /** Seconds until a retry may succeed. */
  readonly retryAfter: number | undefined;

  constructor(status: number, message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const missing: readonly string[] = [
  'project_not_found',
  'deploy_not_found',
  'domain_not_found',
  'pet_not_found',
  'order_not_found',
  'api_key_not_found',
  'person_not_found',
  'session_not_found',
];

const gone: Readonly<Partial<Record<string, string>>> = {
  webhook_not_found: 'This webhook was removed, or it belongs to another account.',
  share_unknown:
    'This link is not complete, or no longer works. Ask the person who sent it for a new one.',
  webhook_delivery_not_found: 'This delivery is gone: deliveries are kept for 30 days.',
};

export const notFound = (): PageProblem =>
  new PageProblem(404, 'This page does not exist, or it belongs to another account.');

/** Makes the page for any thrown error. Unknown errors reveal nothing. */
export const problemOf = (error: unknown): PageProblem => {
  if (error instanceof PageProblem) return error;
  if (error instanceof TooMany) return new PageProblem(429, error.message, error.retryAfter);
  if (error instanceof DomainError) {
    const { code, message } = error as DomainError;
    if (gone[code] !== undefined) return new PageProblem(404, gone[code]);
    return missing.includes(code) ? notFound() : new PageProblem(422, message);
  }
  if (error instanceof Unavailable) {
    return new PageProblem(503, 'We cannot do that at the moment. Try again in a second.', 1);
  }
  return new PageProblem(500, 'Something failed on our side, and nothing was changed. Try again.');
};

const titles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported form',
  429: 'Too many requests',
  500: 'Something went wrong',
  503: 'Temporarily unavailable',
};

export const problemPage = (
  { status, message }: PageProblem,
  requestId: string,
  back: string | undefined,
): Page => {
  const title = titles[status] ?? 'Request failed';
  return {
    title,
    status,
    content: html`<div class="empty">
      <h1>${title}</h1>
      <p>${message}</p>
      <p>${back === undefined ? html`<a class="button" href="/dashboard">Go to projects</a>` : html`<a class="button" href="${back}">Go back</a>`}</p>
      ${status >= 500 && html`<p class="hint">If you contact us, include the request ID ${requestId}.</p>`}
    </div>`,
  };
};
