/** What a request asks for (RFC 9112, section 3.2). */
export interface RequestTarget {
  readonly path: string;
  /** Without its question mark; empty if there is none. */
  readonly query: string;
}

/** Nearly all clients send `/path?query`; a client of a proxy sends an absolute address. */
export const requestTarget = (url: string): RequestTarget => {
  if (!url.startsWith('/')) return absoluteTarget(url);
  const fragment = url.indexOf('#');
  const sent = fragment === -1 ? url : url.slice(0, fragment);
  const question = sent.indexOf('?');
  return question === -1
    ? { path: sent, query: '' }
    : { path: sent.slice(0, question), query: sent.slice(question + 1) };
};

/** `*` of OPTIONS stays as it is. */
const absoluteTarget = (url: string): RequestTarget => {
  const address = URL.parse(url);
  return { path: address?.pathname ?? url, query: address?.search.slice(1) ?? '' };
};
