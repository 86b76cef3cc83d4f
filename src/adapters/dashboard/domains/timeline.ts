import type { PlacedEntry } from '../../../domains/ports.ts';
import type { TimelinePage } from '../../../domains/use-cases/show-domain.ts';
import { attachmentIn } from './paths.ts';
import { tell, type Told } from './story.ts';
import { html, type Html } from '../frame/html.ts';
import { exact, pager, time } from '../frame/parts.ts';
import { queryText } from '../frame/query-text.ts';
import type { Visit } from '../frame/screen.ts';

/** What happened, newest first, a page at a time. @param path of the domain */
export const timelineSection = (
  { entries, older }: TimelinePage,
  path: string,
  { query, now }: Pick<Visit, 'query' | 'now'>,
): Html => {
  const isFirst = positionOf(query) === undefined;
  return html`<section class="card" id="whole-timeline" aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    ${entries.length === 0 ? html`<p class="hint">${isFirst ? 'No entries left: old ones are deleted.' : 'No older entries.'}</p>` : html`<ol class="stack timeline">${timelineItems(entries, (place) => address(path, query, place), now)}</ol>`}
    ${pager({
      first: isFirst ? undefined : address(path, query),
      next: older === undefined ? undefined : address(path, query, older),
      of: 'entries',
    })}
  </section>`;
};

/** Query parameter: the cursor of the previous page. New entries do not move a page. */
export const positionOf = (query: URLSearchParams): bigint | undefined => {
  const before = query.get('before') ?? '';
  return /^[1-9]\d{0,17}$/.test(before) ? BigInt(before) : undefined;
};

const address = (path: string, query: URLSearchParams, before?: bigint): string =>
  `${path}${queryText({ attachment: attachmentIn(query), before })}#timeline`;

/**
 * Limit of a page's answers, in characters of markup. The first check always shows its answers; the others link to a
 * page that starts with them.
 */
const mostOfAnswers = 65_536;

/** @param startingBefore address of the page whose first entry is the one before that place */
const timelineItems = (
  entries: readonly PlacedEntry[],
  startingBefore: (place: bigint) => string,
  now: Date,
): readonly Html[] => {
  let used = 0;
  return entries.map((entry) => {
    const told = tell(entry);
    const answers = used < mostOfAnswers ? told.answers?.() : undefined;
    const length = answers?.toString().length ?? 0;
    const fits = used === 0 || used + length <= mostOfAnswers;
    used += length;
    const elsewhere = () =>
      html`<p><a href="${startingBefore(entry.place + 1n)}">Raw answers</a></p>`;
    const shown = answers && fits ? answers : told.answers && elsewhere();
    return timelineItem(entry, { ...told, ...(shown && { shown }) }, now);
  });
};

const timelineItem = (
  { place, occurredAt }: PlacedEntry,
  { title, tone, more, shown }: Told & { readonly shown?: Html },
  now: Date,
): Html => html`<li class="${tone}" id="entry-${String(place)}">
    <p><strong>${title}</strong></p>
    <p class="hint">${time(occurredAt, now)} · ${exact(occurredAt)}</p>
    ${more}${shown}
  </li>`;
