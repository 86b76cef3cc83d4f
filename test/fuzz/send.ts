import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { BytesCase } from './fuzz-case.ts';
import type { FuzzField } from './fuzz-field.ts';
import { lastPing, flags, frameTypes, readFrames } from './http2-cases.ts';

export interface Http1Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * All complete answers, as latin1.
 * @param methods the methods of the requests in order, because an answer to HEAD has no body
 */
export const readAnswers = (text: string, methods: readonly string[]): readonly Http1Answer[] => {
  const answers: Http1Answer[] = [];
  for (let rest = text; ;) {
    const read = readOne(rest, methods[answers.length] === 'HEAD');
    if (!read) return answers;
    // 100 Continue is not an answer.
    if (read.answer.status >= 200) answers.push(read.answer);
    rest = read.rest;
  }
};

const isEndless = ({ headers }: Http1Answer): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true;

interface Read {
  readonly answer: Http1Answer;
  readonly rest: string;
}

const readOne = (text: string, isHead: boolean): Read | undefined => {
  const end = text.indexOf('\r\n\r\n');
  const [, digits] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? [];
  if (end < 0 || digits === undefined) return undefined;
  const status = Number(digits);
  const headers = new Map(
    text
      .slice(0, end)
      .split('\r\n')
      .slice(1)
      .map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.replace(/^[^:]*: ?/, '')]),
  );
  const rest = text.slice(end + 4);
  const hasNoBody = isHead || status < 200 || status === 204 || status === 304;
  if (hasNoBody) return { answer: { status, headers, body: '' }, rest };
  const stream = { status, headers, body: rest };
  if (isEndless(stream)) return { answer: stream, rest: '' };
  const body = headers.get('transfer-encoding') === 'chunked' ? chunks(rest) : plain(rest, headers);
  return body && { answer: { status, headers, body: body.content }, rest: body.rest };
};

const plain = (text: string, headers: ReadonlyMap<string, string>) => {
  const length = Number(headers.get('content-length') ?? text.length);
  return text.length < length
    ? undefined
    : { content: text.slice(0, length), rest: text.slice(length) };
};

const chunks = (text: string) => {
  const parts: string[] = [];
  for (let at = 0; ;) {
    const line = text.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = parseInt(text.slice(at, line), 16);
    const end = line + 2 + size + 2;
    if (text.length < end) return undefined;
    if (size === 0) return { content: parts.join(''), rest: text.slice(end) };
    parts.push(text.slice(line + 2, end - 2));
    at = end;
  }
};

export interface Reply {
  readonly bytes: Buffer;
  /** `silent`: no data came for a while, and none was required. `late`: a required answer did not come. */
  readonly end: 'complete' | 'closed' | 'silent' | 'late';
}

const silenceMs = 150;
/**
 * Sends the bytes of a case over a new connection, and reads until no more data comes.
 * @param longestMs only a guard against hanging, because machines are busy
 */
export const send = async (
  one: BytesCase,
  field: FuzzField,
  longestMs = 60_000,
): Promise<Reply> => {
  const socket = open(one, field);
  const received: Buffer[] = [];
  const over = new Promise<Reply['end']>((resolve) => {
    const isComplete = completeness(one);
    const silence = new Timer(silenceMs, () => {
      // Servers may close a connection whose client has half-closed.
      if (one.wants === 'any') socket.end();
    });
    const patience = setTimeout(() => {
      resolve(one.wants === 'any' ? 'silent' : 'late');
    }, longestMs);
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      silence.restart();
      if (isComplete(received)) resolve('complete');
    });
    socket.once('end', () => socket.end());
    socket.once('connect', () => {
      silence.restart();
    });
    socket
      .on('error', () => undefined)
      .once('close', () => {
        clearTimeout(patience);
        silence.clear();
        resolve('closed');
      });
  });
  await write(socket, one, field);
  const end = await over;
  socket.destroy();
  return { bytes: Buffer.concat(received), end };
};

/** Shared, because a key costs more than a handshake. */
const secureContext = createSecureContext();

const open = ({ port, tls }: BytesCase, { ports, fill }: FuzzField): Socket => {
  const place = { host: '127.0.0.1', port: ports[port] };
  if (!tls) return connect({ ...place, allowHalfOpen: true });
  const { servername, protocol } = tls;
  const options = { servername: fill(servername), ALPNProtocols: [protocol], secureContext };
  return connectTls({ ...place, ...options, rejectUnauthorized: false });
};

const write = async (
  socket: Socket,
  { pieces, tls }: BytesCase,
  { fill }: FuzzField,
): Promise<void> => {
  const opened = tls ? 'secureConnect' : 'connect';
  await Promise.race([once(socket, opened), once(socket, 'close')]).catch(() => undefined);
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(fill(piece), 'latin1');
    await setImmediate();
  }
};

const completeness = ({ wants, asks }: BytesCase): ((received: readonly Buffer[]) => boolean) => {
  switch (wants) {
    case 'any':
      return () => false;
    case 'answers': {
      const methods = asks.map(({ method }) => method);
      return (received) => {
        const answers = readAnswers(Buffer.concat(received).toString('latin1'), methods);
        return answers.length >= asks.length || answers.some(isEndless);
      };
    }
    case 'ping':
      return (received) => readFrames(Buffer.concat(received)).some(isLast);
  }
};

const isLast = ({ type, flags: set, payload }: ReturnType<typeof readFrames>[number]): boolean =>
  type === frameTypes.goAway ||
  (type === frameTypes.ping && set === flags.ack && payload.toString('latin1') === lastPing);

/** Calls back once after a while without a restart. */
class Timer {
  readonly #ms: number;
  readonly #call: () => void;
  #timeout: NodeJS.Timeout | undefined;

  constructor(ms: number, call: () => void) {
    this.#ms = ms;
    this.#call = call;
  }

  restart(): void {
    clearTimeout(this.#timeout);
    this.#timeout = setTimeout(this.#call, this.#ms);
  }

  clear(): void {
    clearTimeout(this.#timeout);
  }
}
