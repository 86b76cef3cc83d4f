import { inWords } from '../../../notifications/domain/kinds.ts';
import type { Notice } from '../../../notifications/ports.ts';
import { html, type Html } from '../frame/html.ts';
import { readerOf } from '../frame/layout.ts';
import { empty, head, listPart, pager, time } from '../frame/parts.ts';
import { bellPath, noticesPath, queryText } from '../frame/paths.ts';
import { bareForm, type Form, type Screen } from '../frame/screen.ts';
import type { DashboardPorts } from '../ports.ts';

const pageSize = 25;

type Ports = Pick<DashboardPorts, 'notifications'>;

export const noticesScreen = ({ notifications }: Ports): Screen => ({
  path: noticesPath,
  section: 'notices',
  live: 'seldom',
  show: async ({ accountId, query, now }) => {
    const [before, seen] = [placeOf(query.get('before')), placeOf(query.get('since'))];
    const found = await notifications.listNotices(accountId, pageSize + 1, before);
    const { shown: notices, last } = listPart(found, pageSize);
    return {
      title: 'Notices',
      content: html`
        ${head('Notices', 'What happened to your domains, certificates, deploys and API keys, and what you can do about it. Notices are kept for 90 days.')}
        ${notices.length === 0 ? nothingYet(before !== undefined) : noticeList(notices, { seen, now })}
        ${pager({
          first: before === undefined ? undefined : pathOf({ seen }),
          next: last && pathOf({ seen, before: last.place }),
          of: 'notices',
        })}`,
    };
  },
  forms: [looking({ notifications })],
});

/** Serves the live bell to all pages that are not live. */
export const bellScreen = (ports: Ports): Screen => ({
  ...noticesScreen(ports),
  path: bellPath,
  live: 'bell',
  forms: [],
});

const looking = ({ notifications }: Ports): Form =>
  bareForm({
    name: 'look',
    operation: 'me.change',
    path: noticesPath,
    act: async ({ signedIn }) => {
      const { before, newest } = await notifications.lookAtNotices(readerOf(signedIn));
      return { to: pathOf({ seen: before < newest ? before : undefined }) };
    },
  });

interface Position {
  readonly seen: bigint | undefined;
  readonly before?: bigint;
}

const pathOf = ({ seen, before }: Position): string =>
  `${noticesPath}${queryText({ since: seen?.toString(), before: before?.toString() })}`;

const placeOf = (text: string | null): bigint | undefined =>
  text !== null && /^\d{1,18}$/.test(text) ? BigInt(text) : undefined;

const nothingYet = (isOlder: boolean) =>
  isOlder
    ? html`<p class="hint">There are no older notices.</p>`
    : empty(
        'No notices yet',
        'We tell you here when a domain goes live or stops working, a certificate cannot be renewed, a deploy fails, or your requests run out.',
      );

const noticeList = (
  notices: readonly Notice[],
  { seen, now }: { readonly seen: bigint | undefined; readonly now: Date },
): Html => html`<ol class="card notices" aria-label="Notices">
  ${notices.map((notice) => item(notice, seen !== undefined && notice.place > seen, now))}
</ol>`;

const item = (notice: Notice, isNew: boolean, now: Date): Html => {
  const { tone, title, text, link } = inWords(notice);
  return html`<li class="${tone}${isNew && ' fresh'}" id="notice-${String(notice.place)}">
    <h2>${title}${isNew && html`<span class="visually-hidden"> (new)</span>`}</h2>
    <p>${text} <a href="${link.path}">${link.text}</a></p>
    <small>${time(notice.occurredAt, now)}</small>
  </li>`;
};
