import * as v from 'valibot';
import {
  removalReasons,
  type RemovalReason,
} from '../../../domains/domain/attachment/custom-domain.ts';
import type { TimelineEntry } from '../../../domains/domain/attachment/timeline-entries.ts';
import {
  type BudgetName,
  caBudgets,
  limitInWords,
} from '../../../domains/domain/certificates/ca-budget.ts';
import type { AuthorityFailureReason } from '../../../domains/domain/certificates/certificate-status.ts';
import { problemTitles } from '../../../domains/domain/dns/problem.ts';
import { shortened } from '../../../domains/domain/dns/facts.ts';
import type { PlacedEntry } from '../../../domains/ports.ts';
import type { TimelinePage } from '../../../domains/use-cases/show-domain.ts';
import { type Child, html, type Html } from '../frame/html.ts';
import { end, exactTime, fullTime, folded, pager, type Tone } from '../frame/parts.ts';
import type { Visit } from '../frame/screen.ts';
import { answersTable } from './diagnostics.ts';
import { placeOf } from './paths.ts';

export const timelineSection = (
  { entries, older }: TimelinePage,
  path: string,
  { query, now }: Pick<Visit, 'query' | 'now'>,
): Html => {
  const isFirst = positionOf(query) === undefined;
  const content = html`${entries.length === 0 ? html`<p class="hint">${isFirst ? 'No entries left: old ones are deleted.' : 'No older entries.'}</p>` : html`<ol class="stack timeline">${timelineItems(entries, (place) => address(path, query, place), now)}</ol>`}
    ${pager({
      first: isFirst ? undefined : address(path, query),
      next: older === undefined ? undefined : address(path, query, older),
      of: 'entries',
    })}`;
  return folded({ id: 'timeline', title: 'Timeline', isOpen: !isFirst }, content);
};

/** Reads the previous page's cursor from the query. New entries do not shift later pages. */
export const positionOf = (query: URLSearchParams): bigint | undefined => {
  const before = query.get('before') ?? '';
  return /^[1-9]\d{0,17}$/.test(before) ? BigInt(before) : undefined;
};

const address = (path: string, query: URLSearchParams, before?: bigint): string =>
  `${path}${placeOf(query, before === undefined ? {} : { before: String(before) })}#timeline`;

/**
 * The most characters of markup that the answers of one page may have. The first check always shows its answers; others
 * link to a page that starts with them.
 */
const mostOfAnswers = 65_536;

/** @param startingBefore returns the address of the page that starts with the entry before that place */
const timelineItems = (
  entries: readonly PlacedEntry[],
  startingBefore: (place: bigint) => string,
  now: Date,
): readonly Html[] => {
  let used = 0;
  return entries.map((entry) => {
    const told = entryInWords(entry);
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
  { title, tone, more, shown }: EntryInWords & { readonly shown?: Html },
  now: Date,
): Html => html`<li class="${tone}" id="entry-${String(place)}">
    <p><strong>${title}</strong></p>
    <p class="hint">${fullTime(occurredAt, now)}</p>
    ${more}${shown}
  </li>`;

export interface EntryInWords {
  readonly title: Child;
  readonly tone: Tone;
  readonly more?: Html;
  readonly answers?: () => Html;
}

export const entryInWords = ({ kind, occurredAt, details }: TimelineEntry): EntryInWords => {
  switch (kind) {
    case 'added':
      return { title: 'Added', tone: 'idle' };
    case 'checked':
      return checkInWords(v.parse(check, details), details);
    case 'ready':
      return { title: 'Certificate ready: the DNS can change at any time', tone: 'good' };
    case 'unready':
      return {
        title: 'No longer ready: the record for validation by DNS is gone',
        tone: 'busy',
      };
    case 'verified':
      return { title: 'Verified', tone: 'good' };
    case 'attempt':
      return attemptInWords(v.parse(attempt, details), occurredAt);
    case 'live':
      return { title: 'Live: visitors come here', tone: 'good' };
    case 'renewed':
      return {
        title: html`Certificate renewed${until(v.parse(attempt, details).notAfter, occurredAt)}`,
        tone: 'good',
      };
    case 'removed':
      return { title: removalWords[v.parse(removal, details).reason], tone: 'idle' };
  }
};

const moment = v.fallback(
  v.optional(
    v.pipe(
      v.string(),
      v.isoTimestamp(),
      v.transform((text) => new Date(text)),
    ),
  ),
  undefined,
);
const text = v.fallback(v.string(), '');

const check = v.object({
  verifiable: v.fallback(v.boolean(), false),
  problems: v.fallback(v.array(v.object({ code: v.string(), seen: text })), []),
});

const attempt = v.object({
  outcome: text,
  notAfter: moment,
  until: moment,
  retryAt: moment,
  budget: text,
  reason: text,
  detail: text,
  authority: text,
});

const removal = v.object({
  reason: v.fallback(v.picklist(removalReasons), 'owner'),
});

const removalWords: Readonly<Record<RemovalReason, string>> = {
  owner: 'Removed by your account',
  contested: 'Removed: another account proved that it owns the name',
  expired: 'Removed: it was not verified within 30 days',
  project_deleted: 'Removed: its project was deleted',
};

const checkInWords = (
  { verifiable, problems }: v.InferOutput<typeof check>,
  details: TimelineEntry['details'],
): EntryInWords => {
  const titles: Readonly<Record<string, string>> = problemTitles;
  const found = [...new Set(problems.map(({ code }) => titles[code] ?? shortened(code)))];
  const seen = problems[0]?.seen ?? '';
  const more = html`${seen !== '' && html`<p><code class="quiet">${shortened(seen)}</code></p>`}`;
  const rest = { more, answers: () => answersTable(details['answers']) };
  return verifiable
    ? { title: ['DNS checked: correct', ...found].join('. '), tone: 'good', ...rest }
    : { title: `DNS checked: ${found.join('. ') || 'not correct'}`, tone: 'bad', ...rest };
};

const failureWords: Readonly<Partial<Record<AuthorityFailureReason, string>>> = {
  order_gone: 'the order had expired',
  rate_limited: 'the authority asks us to wait',
  unavailable: 'the authority is unavailable',
  rejected_name: 'the authority rejected the name',
  caa: 'a CAA record forbids it',
  dns: 'the DNS lookup of the authority failed',
  challenge: 'the authority could not reach the site',
} satisfies Record<AuthorityFailureReason, string>;

const mostToldOfRefusal = 1000;

const attemptInWords = (told: v.InferOutput<typeof attempt>, occurredAt: Date): EntryInWords => {
  switch (told.outcome) {
    case 'issued':
      return {
        title: html`Certificate issued${by(told)}${until(told.notAfter, occurredAt)}`,
        tone: 'good',
      };
    case 'failed':
      return {
        title: html`Attempt at the certificate failed${at(told)}: ${failureWords[told.reason as AuthorityFailureReason] ?? told.reason}`,
        tone: 'bad',
        more: html`<blockquote class="hint">${shortened(told.detail, mostToldOfRefusal)}</blockquote>
          ${told.retryAt && html`<p class="hint">The authority accepts no request before ${exactTime(told.retryAt)}.</p>`}`,
      };
    case 'left':
      return {
        title: html`Gave up the order${at(told)}`,
        tone: 'busy',
        more: html`<p class="hint">The authority has not answered for long, so we ask another one.</p>`,
      };
    case 'unanswered':
      return {
        title: 'We asked for a certificate and never got the answer',
        tone: 'busy',
        more: html`<p class="hint">The authority may have created an order, so it counts.</p>`,
      };
    case 'postponed':
      return {
        title: html`Attempt postponed${told.until && html` until ${exactTime(told.until)}`}`,
        tone: 'busy',
        more: html`<p class="hint">Limit reached: ${isBudget(told.budget) ? limitInWords(told.budget) : told.budget}.</p>`,
      };
    default:
      return { title: `Certificate ${told.outcome}`, tone: 'busy' };
  }
};

const isBudget = (name: string): name is BudgetName => Object.hasOwn(caBudgets, name);

const by = ({ authority }: v.InferOutput<typeof attempt>): Child =>
  authority !== '' && html` by ${shortened(authority)}`;

const at = ({ authority }: v.InferOutput<typeof attempt>): Child =>
  authority !== '' && html` at ${shortened(authority)}`;

const until = (notAfter: Date | undefined, occurredAt: Date): Child =>
  notAfter && html`, valid until ${end(notAfter, occurredAt)}`;
