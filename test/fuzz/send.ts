import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { BytesCase } from './fuzz-case.ts';
import type { FuzzField } from './fuzz-field.ts';
import { isEndless, readAnswers } from './http1-answers.ts';
import { lastPing } from './http2-cases.ts';
import { flags, frameTypes, readFrames } from './http2-frames.ts';

export interface Reply {
  readonly bytes: Buffer;
  /** `silent`: nothing came for a while, and nothing had to. `late`: something had to come, and did not. */
  readonly end: 'complete' | 'closed' | 'silent' | 'late';
}

/** Who waits for no certain answer has seen what there is. */
const silenceMs = 150;
/**
 * Sends the bytes of a case over a connection of its own, and listens until there is nothing more to come.
 * @param longestMs against hanging, never a measure: machines are busy
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
      // Servers let a connection go whose client has nothing more to say.
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
    // The other side said all that it has to say.
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

/** One for all: each costs more than a handshake. */
const secureContext = createSecureContext();

const open = ({ port, tls }: BytesCase, { ports, fill }: FuzzField): Socket => {
  const place = { host: '127.0.0.1', port: ports[port] };
  if (!tls) return connect({ ...place, allowHalfOpen: true });
  const { servername, protocol } = tls;
  const options = { servername: fill(servername), ALPNProtocols: [protocol], secureContext };
  // Whose certificate it is does not matter here.
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

/** Calls once when nothing restarted it for a while. */
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
