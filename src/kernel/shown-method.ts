const known = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT'];

/** The method of a request as a trace shows it: few words, whatever outsiders send. */
export const shownMethod = (method: string): string => (known.includes(method) ? method : '_OTHER');

/** In names of spans, as OpenTelemetry's semantic conventions want it. */
export const methodInName = (shown: string): string => (shown === '_OTHER' ? 'HTTP' : shown);
