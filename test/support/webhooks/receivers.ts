import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { expect } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { pino } from 'pino';
import { GuardedOutside } from '../../../src/adapters/webhooks/guarded-outside.ts';
import type { Outside, AskedCalls } from '../../../src/notifications/webhook-ports.ts';
import { neverMs } from '../until.ts';
import { payloadDocument } from '../../../src/adapters/http/reference/payload-schemas.ts';
import { messageTypes, type Payload } from '../../../src/notifications/domain/payload.ts';
import { QueueWorker } from '../../../src/adapters/schedule/queue-worker.ts';
import { SystemClock, UuidIds } from '../../../src/adapters/system/clock-and-chance.ts';
import { StandardSigning } from '../../../src/adapters/webhooks/standard-signing.ts';
import { queueKinds } from '../../../src/app/queues.ts';
import { webhookCalls } from '../../../src/notifications/notifications.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import type { StoragePorts } from '../storage-ports.ts';

/** May call this machine, and looks no names up. */
export const realOutside = (withinMs = neverMs): Outside =>
  new GuardedOutside({
    ...{ dnsServers: ['127.0.0.1:9'], ownAddresses: [], withinMs },
    rules: { allowsThisMachine: true },
  });

export interface Received {
  /** The address that was called, as in `urlOf`. */
  readonly at: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Answer = (received: Received, response: ServerResponse) => void;

const thanks: Answer = (_received, response) => {
  response.writeHead(204).end();
};

/** Real receivers: one server that stands for as many as there are addresses of the loopback network. */
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

  /** Fails if a message that came is not as its published schema says. */
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

/** As a receiver does it that knows one secret. */
export const isSignedWith = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

export const idOf = ({ headers }: Received): string => String(headers['webhook-id']);

const ajv = new Ajv2020({ strict: true, allErrors: true });
formats.default(ajv);

/** Published schemas allow fields that they do not name, for later versions. What we send today has none of those. */
const closed = (schema: unknown): unknown => {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const parts = Object.entries(schema).map(([name, part]) => [name, closed(part)] as const);
  return {
    ...Object.fromEntries(parts),
    ...('properties' in schema && 'required' in schema && { additionalProperties: false }),
  };
};

const validators = new Map(
  messageTypes.map((type) => [
    type as string,
    ajv.compile(closed(payloadDocument(type, `https://shop.test/${type}`)) as object),
  ]),
);

/** The message of a webhook. Fails if its published schema does not describe it, field by field. */
export const documentedPayload = (body: string): Payload => {
  const message = JSON.parse(body) as Payload;
  const isValid = validators.get(message.type);
  expect([...validators.keys()]).toContain(message.type);
  const matches = isValid?.(message);
  expect({ message, errors: isValid?.errors ?? [] }).toEqual({ message, errors: [] });
  expect(matches).toBe(true);
  return message;
};

const rules = { allowsThisMachine: true };

interface Calling {
  readonly graceMs?: number;
  readonly clock?: Clock;
  /** Counts calls that people ask for; by default there may be any number. */
  readonly admit?: AskedCalls['admit'];
  readonly times?: Parameters<typeof queueKinds.webhooks>[1];
}

/** The face, and what calls webhooks, as a worker has them. */
export const callingOver = (
  stores: Pick<StoragePorts, 'webhooks' | 'webhookDeliveries'>,
  outside: Outside,
  { graceMs, times, clock = new SystemClock(), admit = () => Promise.resolve() }: Calling = {},
) => {
  const deliveries = stores.webhookDeliveries;
  const calls = webhookCalls({
    ...{ webhooks: stores.webhooks, deliveries, outside, clock, askedCalls: { admit } },
    ...{ signing: new StandardSigning(), destinationRules: rules, ids: new UuidIds() },
  });
  const log = pino({ level: 'silent' });
  const ports = { deliveries, attempt: calls.attemptDelivery, clock, log };
  const pump = new QueueWorker(queueKinds.webhooks(ports, times), { clock, log, graceMs });
  return { calls, pump };
};
