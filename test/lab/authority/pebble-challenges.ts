import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The web server of all hosts: answers challenges of the type HTTP-01 (RFC 8555, section 8.3). */
export interface ChallengeServer {
  readonly port: number;
  publish(token: string, keyAuthorization: string): void;
  close(): void;
}

export const startChallengeServer = async (): Promise<ChallengeServer> => {
  const published = new Map<string, string>();
  const server = createServer(({ url = '' }, response) => {
    const answer = published.get(url.replace('/.well-known/acme-challenge/', ''));
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    publish: (token, keyAuthorization) => void published.set(token, keyAuthorization),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
