import { DomainError } from '../../kernel/domain-error.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { html } from './html.ts';
import type { Page } from './screen.ts';

/** A request that no page can answer. */
export class PageProblem extends Error {
  override readonly name = 'PageProblem';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Refusals from the inside that mean: there is no such thing, for this account. */
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

export const notFound = (): PageProblem =>
  new PageProblem(404, 'There is nothing here, or it belongs to somebody else.');

/** What a page says about anything thrown; what is unknown stays opaque. */
export const problemOf = (error: unknown): PageProblem => {
  if (error instanceof PageProblem) return error;
  if (error instanceof DomainError) {
    const { code, message } = error as DomainError;
    return missing.includes(code) ? notFound() : new PageProblem(422, message);
  }
  if (error instanceof Unavailable) {
    return new PageProblem(503, 'We cannot do that for the moment. Try again in a second.');
  }
  return new PageProblem(
    500,
    'Something failed on our side. Try again; nothing half-done stays behind.',
  );
};

const titles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Nothing here',
  405: 'Not that way',
  413: 'Too large',
  429: 'Too many attempts',
  500: 'Our fault',
  503: 'One moment',
};

export const problemPage = ({ status, message }: PageProblem, requestId: string): Page => {
  const title = titles[status] ?? 'That did not work';
  return {
    title,
    status,
    content: html`<div class="empty">
      <h1>${title}</h1>
      <p>${message}</p>
      <p><a class="button" href="/dashboard">To the projects</a></p>
      ${status >= 500 && html`<p class="hint">If you write to us, name the request ${requestId}.</p>`}
    </div>`,
  };
};
