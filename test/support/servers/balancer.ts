import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Balancer {
  readonly origin: string;
  stop(): Promise<void>;
}

const askEveryMs = 100;

/**
 * A proxy in front of several processes, as docs/running.md requires it. It sends requests to processes whose `/readyz`
 * answers 200, each over a new connection, and tries another process only if the first did not accept the connection.
 */
export const startBalancer = async (origins: () => readonly string[]): Promise<Balancer> => {
  const state = { ready: [] as readonly string[], turn: 0, isOver: false };
  const look = async (): Promise<void> => {
    const all = await Promise.all(
      origins().map(async (one) => ((await isReady(one)) ? [one] : [])),
    );
    state.ready = all.flat();
  };
  const looking = async (): Promise<void> => {
    while (!state.isOver) {
      await look();
      await delay(askEveryMs);
    }
  };
  const server = createServer((asked, answer) => {
    const { ready } = state;
    const first = state.turn++;
    const order = ready.map((_, at) => ready[(first + at) % ready.length] ?? '');
    void pass(asked, answer, order);
  });
  await look();
  const loop = looking();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      state.isOver = true;
      await loop;
      server.close();
      server.closeAllConnections();
    },
  };
};

const isReady = (origin: string): Promise<boolean> =>
  fetch(`${origin}/readyz`).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );

const pass = async (
  asked: IncomingMessage,
  answer: ServerResponse,
  origins: readonly string[],
): Promise<void> => {
  const body = Buffer.concat(await asked.toArray());
  for (const origin of origins) {
    try {
      const got = await forward(asked, body, origin);
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
      return;
    } catch (error) {
      // After any other error the request may have been stored, so it is not retried.
      if ((error as { code?: unknown }).code !== 'ECONNREFUSED') break;
    }
  }
  answer.writeHead(502, { 'Content-Type': 'text/plain' }).end('no process took it');
};

const forward = (asked: IncomingMessage, body: Buffer, origin: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { method, url, headers } = asked;
    const options = { method, agent: false, headers: { ...headers, connection: 'close' } };
    request(origin + (url ?? '/'), options, resolve)
      .once('error', reject)
      .end(body);
  });
