import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { answerTo, type RequestError } from './error-table.ts';

/** A request that no application sees: it is unreadable or contradictory. */
export interface Refusal {
  readonly error: RequestError;
  /** Address of the other side. */
  readonly peer: string;
  /** Undefined if it could not be read. */
  readonly method: string | undefined;
  readonly path: string | undefined;
  /** What Node calls it, for the log. */
  readonly reason: string;
}

export interface RefusalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Builds the answer, and records it like other answers. Never rejects. */
export type AnswerRefusal = (refusal: Refusal) => Promise<RefusalAnswer>;

/** The one shape of every error, and no more. */
export const bareAnswer = ({ error }: Refusal): RefusalAnswer => {
  const { code, message, status, headers } = answerTo(error);
  return {
    status,
    headers: { ...headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ code, message, status }),
  };
};

/** How long the client may continue before the connection is closed; closing it at once would lose the answer. */
const lingerMs = 1000;

/** Writes an answer directly to a socket that has no response object, and ends the connection. */
export const writeAnswer = (socket: Duplex, answer: RefusalAnswer, method?: string): void => {
  const { status, body } = answer;
  const lines = Object.entries(headersOf(answer)).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, ...lines].join('\r\n');
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
  socket.end(`${head}\r\n\r\n${method === 'HEAD' ? '' : body}`);
  socket.resume();
};

/** The body of the request stays unread, so the connection ends with the answer. */
export const sendAnswer = (response: ServerResponse, answer: RefusalAnswer): void => {
  const { method } = response.req;
  response.writeHead(answer.status, headersOf(answer));
  response.end(method === 'HEAD' ? undefined : answer.body);
};

const headersOf = ({ headers, body }: RefusalAnswer): Readonly<Record<string, string>> => ({
  ...headers,
  'Content-Length': String(Buffer.byteLength(body)),
  Date: new Date().toUTCString(),
  Connection: 'close',
});
