import { type Attempt, isSuccess } from '../../../notifications/domain/webhook-delivery.ts';
import { html, type Html } from '../frame/html.ts';
import { badge, count, exact, time } from '../frame/parts.ts';

/** `200`, or that there was none. */
export const resultOf = (attempt: Attempt): Html => {
  if (attempt.kind === 'failed') return badge('no answer', 'bad');
  return badge(String(attempt.status), isSuccess(attempt) ? 'good' : 'bad');
};

export const took = ({ tookMs }: Attempt): string => `${count(tookMs)} ms`;

/** Characters: no more is stored. */
const mostShown = 1024;

/** What came back, as it came: text of anybody. */
const answerOf = (attempt: Attempt): Html => {
  if (attempt.kind === 'failed') return html`<p>${attempt.explanation}</p>`;
  const text = visible(attempt.beginning.slice(0, mostShown));
  return text === ''
    ? html`<p class="hint">The answer has no content.</p>`
    : html`<pre class="wrapped" tabindex="0" role="group" aria-label="Beginning of the answer">${text}</pre>`;
};

/** Control characters as the signs that stand for them; what changes the direction of text as gaps. */
const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, sign);

const sign = (one: string): string => {
  if (one === '\r') return '';
  if (one === '\n' || one === '\t') return one;
  return one < ' ' ? String.fromCodePoint(0x2400 + one.charCodeAt(0)) : '\u{fffd}';
};

export const attemptItem = (attempt: Attempt, now: Date): Html =>
  html`<li class="stack">
    <p class="row">${resultOf(attempt)} <span>${took(attempt)}</span> <span class="hint">${time(attempt.at, now)} · ${exact(attempt.at)}</span></p>
    ${answerOf(attempt)}
  </li>`;
