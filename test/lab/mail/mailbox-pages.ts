import { html, type Html } from '../../../src/adapters/dashboard/frame/html.ts';
import { labFrame } from '../lab-frame.ts';
import type { Received } from './mail-server.ts';

const views = { html: 'HTML', phone: 'As phone', text: 'Text', source: 'Source' } as const;
type View = keyof typeof views;

export const isView = (word: string): word is View => Object.hasOwn(views, word);

/** Newest first. It loads itself again, so that a mail shows soon after it was sent. */
export const mailsPage = (received: readonly Received[]): Html =>
  labFrame(
    'Mail of the lab',
    html`
    <meta http-equiv="refresh" content="5">
    <h1>Mail of the lab</h1>
    ${received.length === 0 && html`<p>No mail yet. Whatever the service sends shows here, and goes nowhere else.</p>`}
    <ol reversed>
      ${received.map(listed).toReversed()}
    </ol>`,
  );

const listed = ({ to, parsed }: Received, index: number): Html =>
  html`<li><a href="/${index + 1}/html">${parsed.subject ?? 'No subject'}</a><br>to ${to.join(', ')}</li>`;

interface Shown {
  readonly mail: Received;
  /** In the list, from 1. */
  readonly place: string;
  readonly view: View;
}

export const mailPage = (shown: Shown): Html => {
  const { parsed, to } = shown.mail;
  const subject = parsed.subject ?? 'No subject';
  return labFrame(
    subject,
    html`
    <p><a href="/">All mails</a></p>
    <h1>${subject}</h1>
    <p>From ${parsed.from?.name} ${parsed.from?.address}, to ${to.join(', ')}</p>
    <nav aria-label="Views">${Object.entries(views).map(([view, text]) => html`<a href="/${shown.place}/${view}" ${view === shown.view && html`aria-current="page"`}>${text}</a> `)}</nav>
    ${body(shown)}`,
  );
};

const body = ({ mail: { parsed, source }, place, view }: Shown): Html => {
  if (view === 'text') return html`<pre>${parsed.text}</pre>`;
  if (view === 'source') return html`<pre>${source}</pre>`;
  if (parsed.html === undefined) return html`<p>This mail has no HTML.</p>`;
  return html`<iframe title="The mail" class="${view}" src="/${place}/content"></iframe>`;
};
