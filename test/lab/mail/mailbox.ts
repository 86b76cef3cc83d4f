import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Html } from '../../../src/adapters/dashboard/frame/html.ts';
import { startMailServer, type MailServer } from './mail-server.ts';
import { isView, mailPage, mailsPage } from './mailbox-pages.ts';

/** A mail server, and a page on which people read what was sent. */
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

/** As mail programs show it: without scripts; and nothing is loaded, so that what is missing shows. */
const sendContent = (response: ServerResponse, content: string | undefined): void => {
  const sandbox = 'sandbox allow-popups allow-popups-to-escape-sandbox';
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': `${sandbox}; default-src 'none'; style-src 'unsafe-inline'`,
  });
  const links = '<head><base target="_blank">';
  response.end(content?.replace('<head>', links));
};
