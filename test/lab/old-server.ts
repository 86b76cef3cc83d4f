import { once } from 'node:events';
import { createServer } from 'node:https';
import { tlsFor } from './authority/pebble-tls.ts';

/** Where a site was before it moved, with a certificate of its own. */
export interface OldServer {
  readonly address: string;
  /** PEM. */
  readonly root: string;
  readonly page: string;
  close(): void;
}

export const startOldServer = async (
  host: string,
  { address, port }: { readonly address: string; readonly port: number },
): Promise<OldServer> => {
  const page = '<h1>the old server</h1>\n';
  const tls = await tlsFor(host);
  const server = createServer(tls, (_, response) => response.end(page));
  await once(server.listen(port, address), 'listening');
  return {
    ...{ address, root: tls.cert, page },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
