import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createServer, type ServerResponse } from 'node:http';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { html, type Html } from '../../src/adapters/dashboard/frame/html.ts';
import { labFrame } from './lab-page.ts';

/** A received mail. */
interface Received {
  readonly to: readonly string[];
  readonly source: string;
  readonly parsed: Email;
}

interface MailServer {
  /** The value of `SMTP_URL`. */
  readonly smtpUrl: string;
  /** Oldest first. */
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/** Accepts every mail for any address and delivers none. Keeps the last ones. */
const startMailServer = async (kept = 500): Promise<MailServer> => {
  const received: Received[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData: (stream, { envelope }, done) => {
      const take = async () => {
        const source = await buffer(stream);
        const to = envelope.rcptTo.map(({ address }) => address);
        received.push({ to, source: source.toString(), parsed: await PostalMime.parse(source) });
        received.splice(0, received.length - kept);
      };
      take().then(() => done(), done);
    },
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    smtpUrl: `smtp://127.0.0.1:${port}`,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};

const views = { html: 'HTML', phone: 'As phone', text: 'Text', source: 'Source' } as const;
type View = keyof typeof views;

const isView = (word: string): word is View => Object.hasOwn(views, word);

/** Newest first. The page reloads, so that a new mail appears soon. */
const mailsPage = (received: readonly Received[]): Html =>
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
  /** The number in the list, from 1. */
  readonly place: string;
  readonly view: View;
}

const mailPage = (shown: Shown): Html => {
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

/** A mail server, and a page that shows the sent mails. */
export interface Mailbox extends MailServer {
  readonly url: string;
}

export const startMailbox = async (): Promise<Mailbox> => {
  const mails = await startMailServer();
  const server = createServer(({ url = '/' }, response) => {
    answer(mails, url, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...mails,
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await mails.close();
    },
  };
};

/** `/`, `/3/phone` and, for the frame in that page, `/3/content`. */
const answer = ({ received }: MailServer, url: string, response: ServerResponse): void => {
  const [, place = '', view = 'html'] = url.split('/');
  const mail = received[Number(place) - 1];
  if (place === '') sendPage(response, mailsPage(received));
  else if (mail && view === 'content') sendContent(response, mail.parsed.html);
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
