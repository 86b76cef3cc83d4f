import { once } from 'node:events';
import { connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { flags, frame, frameTypes, headerBlock, preface, setting } from '../fuzz/http2-cases.ts';
import { tarOf, tgzOf } from '../support/sites/archive-bytes.ts';
import type { DashboardVisitor } from '../support/dashboard/visitor.ts';
import { uploadBody, uploadHeaders, uploadPath } from './ground.ts';

/** Shared, because a key costs more than a handshake. */
const secureContext = createSecureContext();

const initialWindowSize = 4;

interface Place {
  readonly port: number;
  readonly host: string;
  readonly path: string;
}

/**
 * An HTTP/2 connection whose client requests this many streams and reads none of the content.
 * @returns undefined if the edge accepts no more connections
 */
const openStalled = async (
  { port, host, path }: Place,
  streams: number,
): Promise<TLSSocket | undefined> => {
  const socket = connectTls({
    host: '127.0.0.1',
    port,
    servername: host,
    ALPNProtocols: ['h2'],
    secureContext,
    rejectUnauthorized: false,
  });
  socket.on('error', () => undefined).resume();
  const isOpen = await Promise.race([
    once(socket, 'secureConnect').then(() => true),
    once(socket, 'close').then(() => false),
  ]).catch(() => false);
  if (!isOpen) return undefined;
  const block = headerBlock([
    [':method', 'GET'],
    [':path', path],
    [':scheme', 'https'],
    [':authority', host],
  ]);
  const asks = Array.from({ length: streams }, (_, at) =>
    frame({
      type: frameTypes.headers,
      flags: flags.endHeaders | flags.endStream,
      stream: at * 2 + 1,
      payload: block,
    }),
  );
  const start =
    preface + frame({ type: frameTypes.settings, payload: setting(initialWindowSize, 0) });
  socket.write(start + asks.join(''), 'latin1');
  return socket;
};

/** Opens many connections from one address. @returns the accepted ones */
export const openStalledSessions = async (
  place: Place,
  connections: number,
  streams: number,
): Promise<readonly TLSSocket[]> => {
  const opened: (TLSSocket | undefined)[] = [];
  for (let left = connections; left > 0; left -= 20) {
    const some = Array.from({ length: Math.min(20, left) }, () => openStalled(place, streams));
    opened.push(...(await Promise.all(some)));
  }
  return opened.filter((socket) => socket !== undefined);
};

/** Pipelines many requests over one connection, and waits until the service closes it. */
export const sendAhead = async (origin: string, path: string, count: number): Promise<void> => {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count));
  await new Promise((resolve) => socket.once('close', resolve));
};

const index = { name: 'index.html', content: '<h1>Birds</h1>' };

/** About 200 KB: 9 990 files, each below 506 folders. */
export const deepFolders = async (): Promise<Buffer> => {
  const folder = 'd/'.repeat(506);
  const files = Array.from({ length: 9_989 }, (_, at) => ({
    name: `${folder}${String(at)}`,
    content: '',
  }));
  return gzipSync(await tarOf(index, ...files), { level: 9 });
};

/** A file too large for the memory of an edge. */
export const largeFile = (): Promise<Buffer> =>
  tgzOf(index, { name: 'large.bin', content: Buffer.alloc(8 * 1024 * 1024, 'animal') });

const byteEveryMs = 200;

interface SlowUpload {
  readonly isAnswered: () => boolean;
  readonly stop: () => void;
}

/** Starts an upload of a megabyte, and sends the rest byte by byte. */
export const slowUpload = async (
  { origin, cookie = '' }: DashboardVisitor,
  slug: string,
): Promise<SlowUpload> => {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let isAnswered = false;
  socket.on('error', () => undefined).once('data', () => (isAnswered = true));
  await once(socket, 'connect');
  const headers = { Host: host, Cookie: cookie, ...uploadHeaders, 'Content-Length': 2 ** 20 };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.write(`POST ${uploadPath(slug)} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(uploadBody(new Uint8Array(1000)).subarray(0, 1000));
  const dripping = setInterval(() => socket.write('x'), byteEveryMs);
  socket.once('close', () => {
    clearInterval(dripping);
  });
  return { isAnswered: () => isAnswered, stop: () => socket.destroy() };
};
