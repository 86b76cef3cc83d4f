import { shownPath } from './shown-path.ts';
import type { Beginning, Span } from './tracer.ts';

interface Request {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly httpVersion: string;
}

const known = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT'];

/** The method of a request as a trace shows it: few words, whatever outsiders send. */
const shownMethod = (method: string): string => (known.includes(method) ? method : '_OTHER');

/** The name of a request's span, as OpenTelemetry's semantic conventions want it. */
export const requestName = ({ method = '' }: Pick<Request, 'method'>, place?: string): string => {
  const name = known.includes(method) ? method : 'HTTP';
  return place === undefined ? name : `${name} ${place}`;
};

/**
 * A request begins a trace, or continues its caller's. Of its address only the path is told, as the log shows it: outsiders
 * write the host freely, and a query may hold anything.
 */
export const requestBeginning = (
  request: Request,
  scheme: 'http' | 'https',
  path: string,
): Omit<Beginning, 'name'> => ({
  kind: 'server',
  facts: {
    'http.request.method': shownMethod(request.method ?? ''),
    'url.path': shownPath(path),
    'url.scheme': scheme,
    'network.protocol.version': request.httpVersion,
  },
  continues: request.headers['traceparent'] as string | undefined,
});

/** @param isLeft whether the client went away before the answer was complete */
export const tellAnswer = (span: Span, statusCode: number, isLeft: boolean): void => {
  span.tell({ 'http.response.status_code': statusCode });
  if (statusCode >= 500) span.fail(String(statusCode));
  else if (isLeft) span.fail('client_disconnected');
};
