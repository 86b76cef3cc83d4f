import { methodInName, shownMethod } from '../../kernel/shown-method.ts';
import { shownPath } from '../../kernel/shown-path.ts';
import type { Beginning, Span, Tracer } from '../../kernel/tracer.ts';
import type { EdgeRequest, EdgeResponse } from './edge-answer.ts';

export type EdgeHandler = (request: EdgeRequest, response: EdgeResponse) => void;

/** Begins a trace with each request, or continues its visitor's, until its answer has been sent or given up. */
export const tracedVisits =
  (tracer: Tracer, scheme: 'http' | 'https', handle: EdgeHandler): EdgeHandler =>
  (request, response) => {
    const answered = async (span: Span): Promise<void> => {
      const closed = Promise.withResolvers<undefined>();
      response.once('close', () => {
        closed.resolve(undefined);
      });
      handle(request, response);
      await closed.promise;
      tellAnswer(span, response);
    };
    void tracer.begin(beginningOf(request, scheme), answered);
  };

/** Without the host, which outsiders write freely, and without the query, which may hold anything. */
const beginningOf = (
  { method = '', url = '', headers, httpVersion }: EdgeRequest,
  scheme: 'http' | 'https',
): Beginning => {
  const shown = shownMethod(method);
  const [path = ''] = url.split('?', 1);
  return {
    name: `${methodInName(shown)} site`,
    kind: 'server',
    facts: {
      'http.request.method': shown,
      'url.path': shownPath(path),
      'url.scheme': scheme,
      'network.protocol.version': httpVersion,
    },
    continues: headers['traceparent'] as string | undefined,
  };
};

const tellAnswer = (span: Span, response: EdgeResponse): void => {
  const { statusCode, writableFinished } = response;
  span.tell({ 'http.response.status_code': statusCode });
  if (statusCode >= 500) span.fail(String(statusCode));
  else if (!writableFinished) span.fail('client_disconnected');
};
