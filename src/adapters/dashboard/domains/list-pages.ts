import type { CustomDomain } from '../../../domains/domain/attachment/custom-domain.ts';
import { html, nothing, type Html } from '../frame/html.ts';
import { count } from '../frame/parts.ts';

const rowsOnPage = 100;

export interface DomainPage {
  readonly domains: readonly CustomDomain[];
  /** From 1 on. */
  readonly number: number;
  readonly pages: number;
  readonly total: number;
}

/** One page of many. @param wanted the untrusted page parameter of the address */
export const pageOf = (all: readonly CustomDomain[], wanted: string | null): DomainPage => {
  const pages = Math.max(1, Math.ceil(all.length / rowsOnPage));
  const number = /^[1-9]\d{0,5}$/.test(wanted ?? '') ? Math.min(Number(wanted), pages) : 1;
  const start = (number - 1) * rowsOnPage;
  return { domains: all.slice(start, start + rowsOnPage), number, pages, total: all.length };
};

/** The query that keeps the current page of the list; empty for the first page. */
export const pageQuery = (
  query: URLSearchParams,
  more: Readonly<Record<string, string>> = {},
): string => {
  const page = query.get('page');
  const wanted = new URLSearchParams({ ...(page !== null && { page }), ...more });
  return wanted.size === 0 ? '' : `?${wanted.toString()}`;
};

export const pageLinks = ({ number, pages, total, domains }: DomainPage): Html => {
  if (pages === 1) return nothing;
  const first = (number - 1) * rowsOnPage + 1;
  return html`<nav class="row between" aria-label="Pages">
    ${number > 1 && html`<a href="?page=${number - 1}" rel="prev">Newer</a>`}
    <span class="quiet">${count(first)} to ${count(first + domains.length - 1)} of ${count(total)}</span>
    ${number < pages && html`<a href="?page=${number + 1}" rel="next">Older</a>`}
  </nav>`;
};
