import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type ServerResponse } from 'node:http';
import { html, type Html } from '../../src/adapters/dashboard/frame/html.ts';
import { MailServer, type TakenMail } from '../support/servers/mail-server.ts';
import { labFrame } from './lab-page.ts';

const views = { html: 'HTML', phone: 'As phone', text: 'Text', source: 'Source' } as const;
type View = keyof typeof views;

const isView = (word: string): word is View => Object.hasOwn(views, word);

/** Newest first. The page reloads, so that a new mail appears soon. */
const mailsPage = (taken: readonly TakenMail[]): Html =>
  labFrame(
    'Mail of the lab',
    html`
    <meta http-equiv="refresh" content="5">
    <h1>Mail of the lab</h1>
    ${taken.length === 0 && html`<p>No mail yet. Whatever the service sends shows here, and goes nowhere else.</p>`}
    <ol reversed>
      ${taken.map(listed).toReversed()}
    </ol>`,
  );

const listed = (mail: TakenMail, index: number): Html =>
  html`<li><a href="/${index + 1}/html">${mail.subject ?? 'No subject'}</a><br>to ${recipientsOf(mail)}</li>`;

const recipientsOf = ({ to = [] }: TakenMail): string =>
  to.map(({ address }) => address).join(', ');

interface Shown {
  readonly mail: TakenMail;
  /** The number in the list, from 1. */
  readonly place: string;
  readonly view: View;
}

const mailPage = (shown: Shown): Html => {
  const { mail } = shown;
  const subject = mail.subject ?? 'No subject';
  return labFrame(
    subject,
    html`
    <p><a href="/">All mails</a></p>
    <h1>${subject}</h1>
    <p>From ${mail.from?.name} ${mail.from?.address}, to ${recipientsOf(mail)}</p>
    <nav aria-label="Views">${Object.entries(views).map(([view, text]) => html`<a href="/${shown.place}/${view}" ${view === shown.view && html`aria-current="page"`}>${text}</a> `)}</nav>
    ${body(shown)}`,
  );
};

const body = ({ mail, place, view }: Shown): Html => {
  if (view === 'text') return html`<pre>${mail.text}</pre>`;
  if (view === 'source') return html`<pre>${mail.source}</pre>`;
  if (mail.html === undefined) return html`<p>This mail has no HTML.</p>`;
  return html`<iframe title="The mail" class="${view}" src="/${place}/content"></iframe>`;
};

/** A mail server, and a page that shows the sent mails. */
export interface Mailbox {
  readonly url: string;
  /** The value of `SMTP_URL`. */
  readonly smtpUrl: string;
  /** Oldest first. */
  readonly taken: readonly TakenMail[];
  close(): Promise<void>;
}

export const startMailbox = async (): Promise<Mailbox> => {
  const mails = await MailServer.start();
  const server = createServer(({ url = '/' }, response) => {
    answer(mails, url, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    smtpUrl: mails.url,
    taken: mails.taken,
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await mails.stop();
    },
  };
};

/** `/`, `/3/phone` and, for the frame in that page, `/3/content`. */
const answer = ({ taken }: MailServer, url: string, response: ServerResponse): void => {
  const [, place = '', view = 'html'] = url.split('/');
  const mail = taken[Number(place) - 1];
  if (place === '') sendPage(response, mailsPage(taken));
  else if (mail && view === 'content') sendContent(response, mail.html);
  else if (mail && isView(view)) sendPage(response, mailPage({ mail, place, view }));
  else response.writeHead(404).end('There is no such mail.');
};

const sendPage = (response: ServerResponse, page: Html): void => {
  const type = 'text/html; charset=utf-8';
  const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'";
  response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy });
  response.end(`<!doctype html>${page.toString()}`);
};

/** As mail programs show it: without scripts and without loading anything. */
const sendContent = (response: ServerResponse, content: string | undefined): void => {
  const sandbox = 'sandbox allow-popups allow-popups-to-escape-sandbox';
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `${sandbox}; default-src 'none'; style-src 'unsafe-inline'`,
  });
  const links = '<head><base target="_blank">';
  response.end(content?.replace('<head>', links));
};
