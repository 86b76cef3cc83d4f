import { request as plainRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { beginningOf } from '../../kernel/connections.ts';
import {
  readDestination,
  type Destination,
} from '../../notifications/domain/webhooks/destination.ts';
import { Outside } from '../../notifications/webhook-ports.ts';
import type { Outcome } from '../../notifications/domain/webhooks/delivery.ts';
import { NotSent, notSentBy } from './not-sent.ts';
import { publicAddresses, type CheckedAddress, type LookupSettings } from './public-addresses.ts';

type Message = Parameters<Outside['post']>[1];

export interface OutsideSettings extends LookupSettings {
  /** Instead of `longestMs`. */
  readonly withinMs?: number;
}

/** From the look-up of the name to the end of the answer. */
export const longestMs = 10_000;

/** Bytes. */
export const largest = { headers: 16 * 1024, answer: 64 * 1024, kept: 1024 } as const;

/**
 * Sends to addresses that anybody may have chosen. What was checked is what is connected to: a name is looked up once,
 * here. Each request has a connection of its own, follows no redirect and goes through no proxy; an answer is not
 * decompressed.
 */
export class GuardedOutside extends Outside {
  readonly #settings: OutsideSettings;
  readonly #withinMs: number;

  constructor(settings: OutsideSettings) {
    super();
    this.#settings = settings;
    this.#withinMs = settings.withinMs ?? longestMs;
  }

  async post(address: string, message: Message, cancelled?: AbortSignal): Promise<Outcome> {
    const begun = performance.now();
    const late = AbortSignal.timeout(this.#withinMs);
    const signal = cancelled ? AbortSignal.any([late, cancelled]) : late;
    const outcome = await this.#send(address, message, signal).catch((error: unknown) => {
      if (cancelled?.aborted) return failed(new NotSent('cancelled', ''));
      if (late.aborted) return failed(new NotSent('timedOut', String(this.#withinMs / 1000)));
      return failed(notSentBy(error, URL.parse(address)?.hostname ?? ''));
    });
    return { ...outcome, tookMs: Math.round(performance.now() - begun) };
  }

  async #send(address: string, message: Message, signal: AbortSignal) {
    const read = readDestination(address, this.#settings.rules);
    if (read.kind === 'refused') throw new NotSent('addressRefused', read.explanation);
    const checked = await publicAddresses(read.destination, this.#settings, signal);
    signal.throwIfAborted();
    const answer = await answerTo(read.destination, message, { signal, lookup: only(checked) });
    const bytes = await beginningOf(answer, largest.answer);
    // An answer without a length ends with its connection, also when it is we who end that.
    signal.throwIfAborted();
    const beginning = bytes.subarray(0, largest.kept).toString();
    return { kind: 'answered', status: answer.statusCode ?? 0, beginning } as const;
  }
}

const failed = ({ why, message }: NotSent) =>
  ({ kind: 'failed', why, explanation: message }) as const;

/** Connects to the name, but only at these addresses; the certificate is checked for the name. */
const only =
  (checked: readonly CheckedAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = checked;
    if (all) done(null, [...checked]);
    else done(null, first?.address ?? '', first?.family);
  };

const answerTo = (
  { protocol, host, port, path }: Destination,
  { headers, body }: Message,
  connecting: Pick<RequestOptions, 'signal' | 'lookup'>,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const send = protocol === 'https:' ? secureRequest : plainRequest;
    send({
      ...{ host, port, path, method: 'POST', agent: false, ...connecting },
      ...{ maxHeaderSize: largest.headers, insecureHTTPParser: false },
      headers: { 'user-agent': 'animal-store', 'accept-encoding': 'identity', ...headers },
    })
      .on('response', resolve)
      .on('error', reject)
      // Also without an error, as after an answer that switches protocols.
      .on('close', () => {
        reject(new NotSent('closed', host));
      })
      .end(body);
  });
