interface Connection {
  readonly writableLength: number;
  /** Undocumented. Without it, the end of an answer that a client reads slowly would be lost when a server stops. */
  readonly _httpMessage?: { readonly writableEnded: boolean } | null;
}

/**
 * Whether the end of an answer over HTTP/1.1 still waits to be sent. Node already counts the connection as idle then, and
 * `closeIdleConnections` would cut the answer.
 */
export const sendsRest = ({ writableLength, _httpMessage: answer }: Connection): boolean =>
  writableLength > 0 && answer?.writableEnded === true;
