import { send, type Answer } from './answer.ts';
import type { Response } from './listener/http-server.ts';
import type { IncomingMessage } from 'node:http';
import type { RequestContext } from './request-context.ts';
import { RequestLifecycle, type LifecyclePorts } from './request-lifecycle.ts';
import { routing, type Route } from './routing.ts';

/** Steps that not every server has. */
export interface ExtraSteps {
  /** Identifies the caller, counts the request, and adds the limits to its answer. */
  readonly meter?: (context: RequestContext) => Promise<void>;
  /** Lets pages of other origins read the answer. @returns the answer to a preflight */
  readonly crossOrigin?: (context: RequestContext) => Answer | undefined;
}

/** Resolves when the request is answered. Never rejects. */
export type RequestHandler = (request: IncomingMessage, response: Response) => Promise<void>;

/** Answers by these routes. Each answer is one `writeHead` and one `end`. */
export const requestHandler = (
  ports: LifecyclePorts,
  routes: readonly Route[],
  { meter, crossOrigin }: ExtraSteps = {},
): RequestHandler => {
  const lifecycle = new RequestLifecycle(ports);
  const route = routing(routes);

  /** @returns the status of the refusal; 500 if not even that could be sent */
  const refuse = (context: RequestContext, response: Response, error: unknown): number => {
    try {
      const answer = lifecycle.refuse(context, error);
      send(response, context.headers, answer);
      return answer.status;
    } catch {
      response.destroy();
      return 500;
    }
  };

  return async (request, response) => {
    const context = lifecycle.begin(request, response);
    let status: number;
    try {
      await meter?.(context);
      const answer = crossOrigin?.(context) ?? (await route(context, response));
      send(response, context.headers, answer);
      status = answer.status;
    } catch (error) {
      status = refuse(context, response, error);
    }
    lifecycle.end(context, status);
  };
};
