import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { neverMs } from '../until.ts';

export interface RawAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One answer as it was received. @throws Error when it is invalid */
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
