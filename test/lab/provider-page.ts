import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { html } from '../../src/adapters/dashboard/frame/html.ts';

export interface ProviderPage {
  readonly url: string;
  close(): void;
}

/**
 * What a DNS provider is in the lab: one page with one zone file. Whatever is saved is what everybody sees.
 * @param save returns what is wrong with it
 */
export const startProviderPage = async (
  save: (zoneFile: string) => readonly string[],
): Promise<ProviderPage> => {
  let current = '';
  let problems: readonly string[] = [];
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      if (request.method === 'POST') {
        current = new URLSearchParams(await text(request)).get('zone') ?? '';
        problems = save(current);
      }
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html>${page(current, problems, request.method === 'POST').toString()}`,
      );
    };
    answer().catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

const page = (zone: string, problems: readonly string[], isSaved: boolean) =>
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>DNS of the lab</title>
    </head>
    <body>
      <h1>DNS of the lab</h1>
      <p>
        Paste the zone file lines that the dashboard shows for a domain, and save. They count at
        once.
      </p>
      ${isSaved && problems.length === 0 && html`<p role="status">Saved.</p>`}
      ${problems.map((one) => html`<p role="alert">${one}</p>`)}
      <form method="post">
        <p><label for="zone">Records</label></p>
        <p>
          <textarea id="zone" name="zone" rows="16" cols="100" spellcheck="false">${zone}</textarea>
        </p>
        <p><button>Save</button></p>
      </form>
    </body>
  </html>`;
