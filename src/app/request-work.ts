import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Handler } from '../adapters/http/listener/http-server.ts';
import type { RunningWork, Work } from '../adapters/system/running-work.ts';
import { shownPath } from '../kernel/shown-path.ts';

/** A request as the log shows it. Formatted only when needed. */
class RequestWork implements Work {
  readonly #request: Pick<IncomingMessage, 'method' | 'url'>;
  readonly #response: Pick<ServerResponse, 'getHeader'>;

  constructor(
    request: Pick<IncomingMessage, 'method' | 'url'>,
    response: Pick<ServerResponse, 'getHeader'>,
  ) {
    this.#request = request;
    this.#response = response;
  }

  describe(): string {
    const { method = '', url = '' } = this.#request;
    const id = this.#response.getHeader('X-Request-Id');
    const [path = ''] = url.split('?');
    return `request ${method} ${shownPath(path)}${typeof id === 'string' ? ` (${id})` : ''}`;
  }
}

/** Registers each request with `running` until it is answered or its client disconnects. */
export const watched =
  (running: RunningWork, handle: Handler): Handler =>
  (request, response) => {
    const work = new RequestWork(request, response);
    running.begin(work);
    response.once('close', () => {
      running.end(work);
    });
    return handle(request, response);
  };

/** A request to a published site: too many, and too short, to be followed until they end. */
export const visit = ({
  method = '',
  url = '',
}: Pick<IncomingMessage, 'method' | 'url'>): Work => ({
  describe: () => `visit ${method} ${shownPath(url.split('?')[0] ?? '')}`,
});
