import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { pino } from 'pino';
import type { Outside, AskedCalls } from '../../../src/notifications/webhook-ports.ts';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { SystemClock, UuidIds } from '../../../src/adapters/system/system-ports.ts';
import { StandardSigning } from '../../../src/adapters/webhooks/guarded-outside.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import { webhookCalls } from '../../../src/notifications/notifications.ts';
import type { Clock } from '../../../src/kernel/ports.ts';
import type { StoragePorts } from '../storage-ports.ts';
import { documentedPayload } from './documented-payload.ts';

export interface Received {
  /** The called address, as in `urlOf`. */
  readonly at: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (received: Received, response: ServerResponse) => void;

const thanks: Answer = (_received, response) => {
  response.writeHead(204).end();
};

/** Real receivers. One server stands for as many as the loopback network has addresses. */
export class Receivers {
  readonly received: Received[] = [];
  answer: Answer = thanks;
  readonly #server = createServer({ keepAlive: false }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers, socket } = request;
      const at = `http://${socket.localAddress ?? ''}:${this.#port}/`;
      const received = { at, headers, body: Buffer.concat(chunks).toString() };
      this.received.push(received);
      this.answer(received, response);
    });
  });

  static async open(): Promise<Receivers> {
    const receivers = new Receivers();
    receivers.#server.listen(0, '0.0.0.0', 2000);
    await once(receivers.#server, 'listening');
    return receivers;
  }

  /** @param number 0 to 60 000 */
  urlOf(number: number): string {
    return `http://127.0.${Math.floor(number / 250)}.${(number % 250) + 1}:${this.#port}/`;
  }

  /** Fails if a received message does not match its published schema. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
    for (const body of new Set(this.received.map((one) => one.body))) documentedPayload(body);
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
}

/** Verifies like a receiver that knows one secret. */
export const isSignedWith = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

export const idOf = ({ headers }: Received): string => String(headers['webhook-id']);

const rules = { allowsThisMachine: true };

interface Calling {
  readonly graceMs?: number;
  readonly clock?: Clock;
  /** Counts requested calls; by default there is no limit. */
  readonly admit?: AskedCalls['admit'];
  readonly times?: Parameters<typeof queueKinds.webhooks>[1];
}

/** The use cases and the webhook caller, as a worker has them. */
export const callingOver = (
  stores: Pick<StoragePorts, 'webhooks' | 'webhookDeliveries'>,
  outside: Outside,
  { graceMs, times, clock = new SystemClock(), admit = () => Promise.resolve() }: Calling = {},
) => {
  const deliveries = stores.webhookDeliveries;
  const calls = webhookCalls({
    webhooks: stores.webhooks,
    deliveries,
    outside,
    clock,
    askedCalls: { admit },
    signing: new StandardSigning(),
    destinationRules: rules,
    ids: new UuidIds(),
    chance: () => 0.5,
  });
  const log = pino({ level: 'silent' });
  const ports = { deliveries, attempt: calls.attemptDelivery, clock, log };
  const pump = new QueueWorker(queueKinds.webhooks(ports, times), { clock, log, graceMs });
  return { calls, pump };
};
