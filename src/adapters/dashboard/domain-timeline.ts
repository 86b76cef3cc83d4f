import type { TimelineEntry } from '../../sites/domain-ports.ts';
import { tell } from './domain-story.ts';
import { html, type Html } from './html.ts';
import { exact, time } from './parts.ts';

/** So many are shown at first: each check has all its answers with it. */
const shownAtFirst = 20;

/** What happened, newest first. @param isWhole whether all of it is asked for */
export const timelineSection = (
  timeline: readonly TimelineEntry[],
  isWhole: boolean,
  now: Date,
): Html => {
  const shown = isWhole ? timeline : timeline.slice(0, shownAtFirst);
  return html`<section class="card" aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <ol class="timeline">${shown.map((entry) => timelineItem(entry, now))}</ol>
    ${shown.length < timeline.length && html`<p><a href="?timeline=all#timeline">Show all ${timeline.length}</a></p>`}
  </section>`;
};

const timelineItem = (entry: TimelineEntry, now: Date): Html => {
  const { title, tone, more } = tell(entry);
  const { kind, occurredAt } = entry;
  return html`<li class="${tone}" id="${kind}-${occurredAt.getTime()}">
    <p class="what">${title}</p>
    <p class="hint">${time(occurredAt, now)} · ${exact(occurredAt)}</p>
    ${more}
  </li>`;
};
