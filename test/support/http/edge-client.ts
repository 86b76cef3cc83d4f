import { once, type EventEmitter } from 'node:events';
import {
  connect as connectHttp2,
  type ClientHttp2Session,
  type ClientSessionOptions,
} from 'node:http2';
import { request, type Agent, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { neverMs } from '../until.ts';

export const protocols = ['HTTP/1.1', 'HTTP/2'] as const;
type Protocol = (typeof protocols)[number];

export interface Visit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly agent?: Agent;
}

export interface SessionOptions extends ClientSessionOptions {
  /** The default is 127.0.0.1. All of 127.0.0.0/8 are addresses of this machine. */
  readonly localAddress?: string;
}

export interface EdgeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Clients of an edge that trust its authority and resolve every host to its address. */
export interface EdgeClient {
  readonly ports: { readonly http: number; readonly https: number };
  get(host: string, path: string, visit?: Visit): Promise<EdgeAnswer>;
  visit(protocol: Protocol, host: string, path: string, visit?: Visit): Promise<EdgeAnswer>;
  /** @throws Error of the handshake, with the alert as its code */
  connect(servername: string, options?: ConnectionOptions): Promise<TLSSocket>;
  session(host: string, options?: SessionOptions): Promise<ClientHttp2Session>;
  /** Sends raw bytes over TLS. @returns everything received until the server ends the connection */
  raw(host: string, lines: readonly string[], body?: string): Promise<string>;
  plain(lines: readonly string[], body?: string): Promise<string>;
}

const address = '127.0.0.1';

export const edgeClient = (ports: EdgeClient['ports'], root: string): EdgeClient => {
  const { https: port } = ports;

  const connect: EdgeClient['connect'] = async (servername, options) => {
    const socket = connectTls({ host: address, port, servername, ca: root, ...options });
    await once(socket, 'secureConnect');
    // The 'close' event shows how a connection ends.
    return socket.on('error', () => undefined);
  };

  const session: EdgeClient['session'] = async (host, { localAddress, ...options } = {}) => {
    const from = localAddress === undefined ? {} : { localAddress };
    const socket = await connect(host, { ALPNProtocols: ['h2'], ...from });
    const opened = connectHttp2(`https://${host}`, { ...options, createConnection: () => socket });
    await once(opened, 'remoteSettings');
    return opened.on('error', () => undefined);
  };

  const overHttp1 = (host: string, path: string, { body, headers, ...visit }: Visit) => {
    const options: RequestOptions = { host: address, port, servername: host, ca: root, path };
    return answerTo({ ...options, ...visit, headers: { Host: host, ...headers } }, body);
  };

  const overHttp2 = async (host: string, path: string, visit: Visit): Promise<EdgeAnswer> => {
    const opened = await session(host);
    try {
      return await requestIn(opened, path, visit);
    } finally {
      opened.close();
    }
  };

  return {
    ports,
    connect,
    session,
    get: (host, path, visit = {}) => overHttp1(host, path, visit),
    visit: (protocol, host, path, visit = {}) =>
      (protocol === 'HTTP/2' ? overHttp2 : overHttp1)(host, path, visit),
    raw: async (host, lines, body) => {
      const socket = await connect(host);
      return exchange(socket, lines, body);
    },
    plain: (lines, body) => exchange(connectPlain(ports.http, address), lines, body),
  };
};

const exchange = async (socket: Socket, lines: readonly string[], body = ''): Promise<string> => {
  socket.setTimeout(neverMs, () => socket.destroy());
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1');
  return (await receivedBy(socket)).toString('latin1');
};

const answerTo = async (options: RequestOptions, body: string | undefined): Promise<EdgeAnswer> => {
  // The connection may break after the answer.
  const asked = request({ agent: false, ...options }).on('error', () => undefined);
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, headers } = response;
  return { status, headers, body: await buffer(response) };
};

/** @returns when it is closed, whether it ended or broke */
export const closed = (one: EventEmitter): Promise<void> =>
  new Promise((resolve) => {
    one.on('error', () => undefined).once('close', resolve);
  });

/**
 * Everything received until a connection ends. It may end with a reset, which the system sends for a server that has not
 * read everything.
 */
export const receivedBy = async (socket: Socket): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await closed(socket);
  return Buffer.concat(pieces);
};

/** Sends one request in a session. @throws Error if the stream ends early */
export const requestIn = async (
  session: ClientHttp2Session,
  path: string,
  { method = 'GET', headers, body }: Visit = {},
): Promise<EdgeAnswer> => {
  const stream = session.request({ ':path': path, ':method': method, ...headers });
  stream.end(body);
  const [received] = (await once(stream, 'response')) as [Record<string, string | undefined>];
  return { status: Number(received[':status']), headers: received, body: await buffer(stream) };
};
