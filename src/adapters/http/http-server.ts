import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';

/** A listening server that can be stopped without cutting off anybody. */
export class HttpServer {
  readonly #server: Server;
  #stopping = false;

  constructor(app: Koa) {
    const handle = app.callback();
    this.#server = createServer(
      {
        optimizeEmptyRequests: true,
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        keepAliveTimeout: 10_000,
        connectionsCheckingInterval: 1000,
      },
      (request, response) => {
        if (this.#stopping) response.setHeader('Connection', 'close');
        void handle(request, response);
      },
    );
  }

  /** @param port 0 for any free one @returns the port it listens on */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Takes no new connection, lets requests under way finish, closes idle connections at once. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await new Promise<void>((resolve) => {
      // A kept-alive connection turns idle when its request ends, so look again until all are gone.
      const sweep = setInterval(() => {
        this.#server.closeIdleConnections();
      }, 20);
      this.#server.close(() => {
        clearInterval(sweep);
        resolve();
      });
    });
  }
}
