import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { once } from 'node:events';
import { neverMs } from '../until.ts';

/**
 * Sends raw bytes over a new connection, for requests that no HTTP client would send.
 * @returns everything received until the server closes the connection
 */
export const rawRequest = (origin: string, lines: readonly string[], body = ''): Promise<string> =>
  exchangeBytes(origin, `${lines.join('\r\n')}\r\n\r\n${body}`);

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Parses one received answer. @throws Error if it is invalid */
export const answerFrom = (bytes: string): RawAnswer => {
  const [, status, head, body = ''] =
    /^HTTP\/1\.1 (\d{3}) [^\r\n]+\r\n(.*?)\r\n\r\n(.*)$/s.exec(bytes) ?? [];
  if (head === undefined) throw new Error(`no answer: ${JSON.stringify(bytes)}`);
  const headers = head.split('\r\n').map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  return { status: Number(status), headers: Object.fromEntries(headers), body };
};

/** Sends bytes over a new connection. @returns everything received until the service closes it */
export const exchangeBytes = (origin: string, bytes: string): Promise<string> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.setTimeout(neverMs, () => socket.destroy(new Error('no end of the answer')));
  socket.write(bytes, 'latin1');
  return text(socket);
};

interface SlowPost {
  finish(): Promise<string>;
  abandon(): void;
}

/**
 * Starts to add an animal without sending the body yet. The server has accepted the request: it has answered `Expect:
 * 100-continue`.
 */
export const slowPost = async (origin: string, key: string, body: string): Promise<SlowPost> => {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.on('error', () => undefined);
  const lines = [
    'POST /v1/pets HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Expect: 100-continue',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [invitation] = (await once(socket, 'data')) as [string];
  if (!invitation.startsWith('HTTP/1.1 100 Continue')) throw new Error(invitation);
  return {
    finish: () => {
      socket.write(body);
      return text(socket);
    },
    abandon: () => void socket.destroy(),
  };
};

/** Whether no server listens there any more. */
export const isRefused = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const outcome = await once(socket, 'connect').catch((error: unknown) => error);
  socket.destroy();
  return (outcome as NodeJS.ErrnoException).code === 'ECONNREFUSED';
};
