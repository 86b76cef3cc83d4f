import { once } from 'node:events';
import { connect, createSecureContext, type TLSSocket } from 'node:tls';
import { flags, frame, frameTypes, headerBlock, preface, setting } from '../fuzz/http2-frames.ts';

/** One for all: each costs more than a handshake. */
const secureContext = createSecureContext();

const initialWindowSize = 4;

export interface Place {
  readonly port: number;
  readonly host: string;
  readonly path: string;
}

/**
 * One connection of HTTP/2 whose client takes no byte of any content, and asks on so many streams.
 * @returns undefined when the edge wants no more connections
 */
const openStalled = async (
  { port, host, path }: Place,
  streams: number,
): Promise<TLSSocket | undefined> => {
  const socket = connect({
    ...{ host: '127.0.0.1', port, servername: host, ALPNProtocols: ['h2'] },
    ...{ secureContext, rejectUnauthorized: false },
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
      ...{ type: frameTypes.headers, flags: flags.endHeaders | flags.endStream },
      ...{ stream: at * 2 + 1, payload: block },
    }),
  );
  const start =
    preface + frame({ type: frameTypes.settings, payload: setting(initialWindowSize, 0) });
  socket.write(start + asks.join(''), 'latin1');
  return socket;
};

/** Opens many of them from one address. @returns those that were accepted */
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
