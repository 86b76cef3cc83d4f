import {
  requestBeginning,
  requestName,
  tellAnswer,
  type Span,
  type Tracer,
} from '../../kernel/tracer.ts';
import { requestTarget } from './operations/request-target.ts';
import type { Handler, Response } from './listener/http-server.ts';

/**
 * Each request begins a trace, or continues its caller's, until its handler is done, as in its log line. The answer may
 * take longer to arrive.
 */
export const tracedRequests =
  (tracer: Tracer, handle: Handler): Handler =>
  (request, response) => {
    const { path } = requestTarget(request.url ?? '');
    const beginning = { name: requestName(request), ...requestBeginning(request, 'http', path) };
    return tracer.begin(beginning, async (span) => {
      await handle(request, response);
      if (response.route !== undefined) span.rename(requestName(request, response.route));
      tellIts(span, response);
      tellAnswer(span, response.statusCode, response.destroyed && !response.writableEnded);
    });
  };

const tellIts = (span: Span, response: Response): void => {
  const { route, requestId } = response;
  const id = requestId ?? response.getHeader('X-Request-Id');
  span.tell({
    ...(route !== undefined && { 'http.route': route }),
    ...(typeof id === 'string' && { 'animal_store.request.id': id }),
  });
};
