import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface TcpProxy {
  readonly url: string;
  /**
   * Makes the open connections half-open, like a firewall that lost its state. Nothing passes on them any more, and
   * neither side learns that the other one has ended. New connections work.
   */
  loseState(): void;
  /** Blocks new connections too, until they are allowed again. */
  swallowNew(swallow: boolean): void;
  readonly accepted: number;
  /** New connections go to this address; open ones do not move. */
  leadTo(url: string): void;
  cut(): void;
  slowDown(milliseconds: number): void;
  stop(): Promise<void>;
}

interface Passage {
  lost: boolean;
}

/** A proxy between a client and a real server that produces network faults. */
export const startTcpProxy = async (url: string): Promise<TcpProxy> => {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  const passages = new Set<Passage>();
  const faults = { swallowNew: false, accepted: 0, lateMs: 0 };
  const server = createServer((client) => {
    faults.accepted += 1;
    const upstream = connect(Number(target.port), target.hostname);
    const passage: Passage = { lost: faults.swallowNew };
    passages.add(passage);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      let turn: Promise<void> | undefined;
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        const pass = () => {
          if (!passage.lost) other.write(bytes);
        };
        const dueAt = performance.now() + faults.lateMs;
        if (faults.lateMs === 0 && turn === undefined) pass();
        // Data stays in order, even when the delay becomes shorter.
        else
          turn = (turn ?? Promise.resolve())
            .then(() => delay(Math.max(0, dueAt - performance.now())))
            .then(pass);
      });
      socket.once('close', () => {
        sockets.delete(socket);
        passages.delete(passage);
        if (!passage.lost) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(url), { port: String(port) }).href,
    loseState: () => {
      for (const passage of passages) passage.lost = true;
    },
    swallowNew: (swallow) => {
      faults.swallowNew = swallow;
    },
    get accepted() {
      return faults.accepted;
    },
    leadTo: (next) => {
      target = new URL(next);
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    slowDown: (milliseconds) => {
      faults.lateMs = milliseconds;
    },
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};
