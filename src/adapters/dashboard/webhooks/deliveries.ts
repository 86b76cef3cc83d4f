import { isSuccess, type Attempt } from '../../../notifications/domain/webhook-delivery.ts';
import type { Webhook } from '../../../notifications/domain/webhook.ts';
import type { ListedDelivery } from '../../../notifications/webhook-ports.ts';
import { buttonForm } from '../frame/form-parts.ts';
import { type Child, html, type Html, nothing } from '../frame/html.ts';
import {
  badge,
  count,
  counted,
  empty,
  exact,
  type ListPart,
  atClock,
  pager,
  time,
} from '../frame/parts.ts';
import { queryText } from '../frame/paths.ts';
import { webhookPath } from './words.ts';

export const pageSize = 20;

/** The most characters of markup that the answers of one page may have. */
const mostOfAnswers = 65_536;
const mostAttempts = 20;

interface Shown {
  readonly webhook: Webhook;
  readonly deliveries: ListPart<ListedDelivery>;
  readonly before: string | undefined;
  readonly now: Date;
  readonly mayRepeat: boolean;
}

export const deliveriesSection = (shown: Shown): Html => {
  const { webhook, deliveries, before } = shown;
  const { last } = deliveries;
  return html`<section class="card" id="deliveries" aria-labelledby="deliveries-heading">
    <h2 id="deliveries-heading">Deliveries</h2>
    ${deliveries.shown.length === 0 ? nothingHere(before === undefined) : html`<ol class="deliveries">${items(shown)}</ol>`}
    ${pager({
      first: before === undefined ? undefined : olderThan(webhook),
      next: last && olderThan(webhook, last.id),
      of: 'deliveries',
    })}
  </section>`;
};

const nothingHere = (isFirst: boolean): Html =>
  isFirst
    ? empty(
        'Nothing was sent yet',
        'Send a test to see what your receiver answers. Deliveries are listed here for 30 days.',
      )
    : html`<p class="hint">There are no older deliveries.</p>`;

const olderThan = ({ id }: Webhook, before?: string): string =>
  `${webhookPath(id)}${queryText({ before })}#deliveries`;

/** The first delivery always shows its answers. Once the page is long, others link to a page that starts with them. */
const items = ({
  webhook,
  deliveries: { shown: deliveries },
  before,
  now,
  mayRepeat,
}: Shown): readonly Html[] => {
  let used = 0;
  return deliveries.map((delivery, at) => {
    const elsewhere = olderThan(webhook, deliveries[at - 1]?.id ?? before);
    const item = deliveryItem(webhook, delivery, {
      now,
      before,
      mayRepeat,
      elsewhere: used < mostOfAnswers ? undefined : elsewhere,
    });
    used += item.toString().length;
    return item;
  });
};

interface Showing {
  readonly now: Date;
  readonly before: string | undefined;
  readonly mayRepeat: boolean;
  readonly elsewhere: string | undefined;
}

const deliveryItem = (webhook: Webhook, delivery: ListedDelivery, showing: Showing): Html => {
  const { id, type, addedAt, attempts } = delivery;
  const { now, before, mayRepeat, elsewhere } = showing;
  const [last] = attempts;
  const line = html`<strong><code>${type}</code></strong> ${progressOf(delivery)}
    <span class="hint">${time(addedAt, now)} · ${last && html`${resultIn(last)} · `}${whatNext(delivery, now)}</span>`;
  const repeating = mayRepeat && again(webhook, delivery, before);
  if (last && elsewhere === undefined)
    return html`<li id="${id}"><details><summary>${line}</summary>${details(delivery, now, repeating)}</details></li>`;
  return html`<li id="${id}" class="row between"><p>${line} ${elsewhere !== undefined && html`<a href="${elsewhere}">Message and answers</a>`}</p>${repeating}</li>`;
};

const resultIn = (attempt: Attempt): string => {
  const result = attempt.kind === 'failed' ? 'no answer' : String(attempt.status);
  return `${result} in ${took(attempt)}`;
};

const progressOf = ({ progress, failures }: ListedDelivery): Html => {
  switch (progress.state) {
    case 'waiting':
      return failures === 0 ? badge('sending', 'busy') : badge('trying again', 'busy');
    case 'delivered':
      return badge('delivered', 'good');
    case 'given_up':
      return badge('given up', 'bad');
    case 'cancelled':
      return badge('cancelled', 'idle');
  }
};

const whatNext = ({ progress, attempts, failures }: ListedDelivery, now: Date): Html => {
  const made =
    attempts.length === 0 ? 'No attempt yet.' : `${counted(attempts.length, 'attempt')}.`;
  switch (progress.state) {
    case 'waiting':
      return failures === 0
        ? html`${made} The next one is on its way.`
        : html`${made} ${nextAttempt(progress.nextAt, now)}`;
    case 'delivered':
      return html`${made}`;
    case 'given_up':
      return html`${made} We do not retry automatically.`;
    case 'cancelled':
      return html`${made} The webhook was switched off before it succeeded.`;
  }
};

const nextAttempt = (at: Date, now: Date): Html =>
  at.getTime() - now.getTime() < 60_000
    ? html`The next one follows within a minute.`
    : html`The next one is at ${atClock(at, now)}.`;

/** Offers to send a delivery again, unless its first attempt is pending or the webhook is off. */
const again = (
  { id, status }: Webhook,
  delivery: ListedDelivery,
  before: string | undefined,
): Html => {
  const { progress, failures, type } = delivery;
  const isOnItsWay = progress.state === 'waiting' && failures === 0;
  if (status.state === 'off' || isOnItsWay) return nothing;
  const action = `${webhookPath(id)}/deliveries/${delivery.id}/again${queryText({ before })}`;
  return buttonForm(action, 'Send again', {
    about: `Send this ${type} again`,
  });
};

const details = (
  { messageId, body, attempts }: ListedDelivery,
  now: Date,
  repeating: Child,
): Html => {
  const earlier = Math.max(0, attempts.length - mostAttempts);
  return html`<div class="stack">
    <ol class="stack answers">${attempts.slice(0, mostAttempts).map((attempt) => attemptItem(attempt, now))}</ol>
    ${earlier > 0 && html`<p class="hint">And ${counted(earlier, 'earlier attempt')}.</p>`}
    <div class="row between"><p class="hint">The message, with <code>webhook-id: ${messageId}</code></p>${repeating}</div>
    <pre class="wrapped" tabindex="0" role="group" aria-label="Message">${readable(body)}</pre>
  </div>`;
};

const readable = (body: string): string => JSON.stringify(JSON.parse(body), null, 2);

const resultOf = (attempt: Attempt): Html => {
  if (attempt.kind === 'failed') return badge('no answer', 'bad');
  return badge(String(attempt.status), isSuccess(attempt) ? 'good' : 'bad');
};

const took = ({ tookMs }: Attempt): string => `${count(tookMs)} ms`;

const mostShown = 1024;

const answerOf = (attempt: Attempt): Html => {
  if (attempt.kind === 'failed') return html`<p>${attempt.explanation}</p>`;
  const text = visible(attempt.beginning.slice(0, mostShown));
  return text === ''
    ? html`<p class="hint">The answer has no content.</p>`
    : html`<pre class="wrapped" tabindex="0" role="group" aria-label="Beginning of the answer">${text}</pre>`;
};

/** Shows control characters as their symbols, and characters that change the direction of text as gaps. */
const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, sign);

const sign = (one: string): string => {
  if (one === '\r') return '';
  if (one === '\n' || one === '\t') return one;
  return one < ' ' ? String.fromCodePoint(0x2400 + one.charCodeAt(0)) : '\u{fffd}';
};

export const attemptItem = (attempt: Attempt, now: Date): Html =>
  html`<li class="stack">
    <p class="row">${resultOf(attempt)} <span class="hint">${took(attempt)}</span> <span class="hint">${time(attempt.at, now)} · ${exact(attempt.at)}</span></p>
    ${answerOf(attempt)}
  </li>`;
