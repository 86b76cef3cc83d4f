import type { IncomingMessage } from 'node:http';
import type { Handler, Response } from '../adapters/http/listener/http-server.ts';
import { requestTarget } from '../adapters/http/request-lifecycle.ts';
import { named, type RunningWork, type Work } from '../adapters/system/running-work.ts';
import { shownPath } from '../kernel/shown-path.ts';
import type { Subscriber, Subscribers } from './queues.ts';

type Request = Pick<IncomingMessage, 'method' | 'url'>;

/** Registers each request with `running` until it is answered or its client disconnects. */
export const watched =
  (running: RunningWork, handle: Handler): Handler =>
  (request, response) => {
    const work = requestWork(request, response);
    running.begin(work);
    response.once('close', () => {
      running.end(work);
    });
    return handle(request, response);
  };

const requestWork = (
  request: Request,
  response: Pick<Response, 'getHeader' | 'requestId'>,
): Work => ({
  describe: () => {
    const id = response.requestId ?? response.getHeader('X-Request-Id');
    return `request ${inWords(request)}${typeof id === 'string' ? ` (${id})` : ''}`;
  },
});

/** A request to a published site: too many, and too short, to be followed until they end. */
export const visit = (request: Request): Work => ({
  describe: () => `visit ${inWords(request)}`,
});

const inWords = ({ method = '', url = '' }: Request): string =>
  `${method} ${shownPath(requestTarget(url).path)}`;

/** The same subscribers, registered while they handle an event. */
export const watchedSubscribers = (running: RunningWork, subscribers: Subscribers): Subscribers =>
  Object.fromEntries(
    Object.entries(subscribers).map(([name, handle]): [string, Subscriber] => [
      name,
      (stored) =>
        running.during(named('delivery', `${stored.event.type} to ${name}`), () => handle(stored)),
    ]),
  );
