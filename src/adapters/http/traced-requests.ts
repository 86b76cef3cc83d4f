import type { IncomingMessage } from 'node:http';
import { methodInName, shownMethod } from '../../kernel/shown-method.ts';
import { shownPath } from '../../kernel/shown-path.ts';
import type { Beginning, Span, Tracer } from '../../kernel/tracer.ts';
import { requestTarget } from './operations/request-target.ts';
import type { Handler, Response } from './listener/http-server.ts';

/**
 * Each request begins a trace, or continues its caller's, until its handler is done, as in its log line. The answer may
 * take longer to arrive.
 */
export const traced =
  (tracer: Tracer, handle: Handler): Handler =>
  (request, response) =>
    tracer.begin(beginningOf(request), async (span) => {
      await handle(request, response);
      tellAnswer(span, request, response);
    });

/** Of the address only the path, as the log shows it: a query may hold anything. */
const beginningOf = ({
  method = '',
  url = '',
  headers,
  httpVersion,
}: IncomingMessage): Beginning => {
  const shown = shownMethod(method);
  return {
    name: methodInName(shown),
    kind: 'server',
    facts: {
      'http.request.method': shown,
      'url.path': shownPath(requestTarget(url).path),
      'url.scheme': 'http',
      'network.protocol.version': httpVersion,
    },
    continues: headers['traceparent'] as string | undefined,
  };
};

const tellAnswer = (span: Span, { method = '' }: IncomingMessage, response: Response): void => {
  const { statusCode, route, requestId } = response;
  const id = requestId ?? response.getHeader('X-Request-Id');
  span.tell({
    'http.response.status_code': statusCode,
    ...(route !== undefined && { 'http.route': route }),
    ...(typeof id === 'string' && { 'animal_store.request.id': id }),
  });
  if (route !== undefined) span.rename(`${methodInName(shownMethod(method))} ${route}`);
  if (statusCode >= 500) span.fail(String(statusCode));
  else if (response.destroyed && !response.writableEnded) span.fail('client_disconnected');
};
