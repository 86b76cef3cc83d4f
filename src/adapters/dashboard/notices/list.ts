import { inWords } from '../../../notifications/domain/kinds.ts';
import type { Notice } from '../../../notifications/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { time } from '../frame/parts.ts';

/** @param seen the highest place that the person had seen before they came here; undefined if that is not known */
export const noticeList = (
  notices: readonly Notice[],
  { seen, now }: { readonly seen: bigint | undefined; readonly now: Date },
): Html => html`<ol class="card notices" aria-label="Notices">
  ${notices.map((notice) => item(notice, seen !== undefined && notice.place > seen, now))}
</ol>`;

const item = (notice: Notice, isNew: boolean, now: Date): Html => {
  const { tone, title, text, link } = inWords(notice);
  return html`<li class="${tone}${isNew && ' fresh'}" id="notice-${String(notice.place)}">
    <h2>${title}${isNew && html`<span class="visually-hidden"> (new)</span>`}</h2>
    <p>${text}</p>
    <p><a href="${link.path}">${link.text}</a></p>
    <small>${time(notice.occurredAt, now)}</small>
  </li>`;
};
