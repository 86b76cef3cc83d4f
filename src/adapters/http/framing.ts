import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { AnsweredRequest } from '../../access/usage-ports.ts';
import type { Clock } from '../../kernel/clock.ts';
import { shownPath } from '../../kernel/text.ts';
import type { Answer } from './answers/answer.ts';
import { answerTo } from './answers/error-table.ts';
import type { Metrics } from './metrics/metrics.ts';
import { Exchange } from './operations/exchange.ts';
import type { RequestTarget } from './operations/request-target.ts';
import { logRequest } from './request-line.ts';

export interface FramingPorts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Called after the answer of every request with a valid key. */
  readonly onAnswered: (request: AnsweredRequest) => void;
  /** Headers that are set on every answer first, by name. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
}

/** What surrounds every request: its id, its log line, its metric, and the uniform shape of refusals. */
export class Framing {
  readonly #ports: FramingPorts;
  readonly #fixed: readonly string[];

  constructor(ports: FramingPorts) {
    this.#ports = ports;
    this.#fixed = Object.entries(ports.fixedHeaders).flat();
  }

  begin(request: IncomingMessage, target: RequestTarget): Exchange {
    return new Exchange(request, target, this.#fixed);
  }

  /** The answer to a request for which an error was thrown. */
  refuse({ requestId }: Exchange, error: unknown): Answer {
    const { log } = this.#ports;
    const { code, message, status, headers } = answerTo(error);
    if (status === 500) log.error({ requestId, err: error }, 'request failed');
    // Outages are logged once each, where they are detected.
    if (status === 503) log.debug({ requestId, err: error }, 'request refused');
    return { status, headers, body: { code, message, status } };
  }

  /** Called once for each request, when its answer is known. Never throws: a full disk costs the line, not the process. */
  end(exchange: Exchange, status: number): void {
    try {
      this.#record(exchange, status);
    } catch (error) {
      this.#ports.log.debug({ err: error }, 'request not recorded');
    }
  }

  #record({ requestId, begun, method, path, operation, caller }: Exchange, status: number): void {
    const { log, metrics, clock, onAnswered } = this.#ports;
    const ms = performance.now() - begun;
    metrics.observe(operation, status, ms / 1000);
    if (caller) {
      const { accountId, keyId } = caller;
      onAnswered({ accountId, keyId, operation, status, at: clock.now() });
    }
    logRequest(log, {
      requestId,
      method,
      path: shownPath(path),
      status,
      ms: Math.round(ms * 100) / 100,
      keyId: caller?.keyId,
    });
  }
}
