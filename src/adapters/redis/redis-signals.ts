import type { Redis } from 'ioredis';
import * as v from 'valibot';
import { readRedisAddress } from './redis-address.ts';
import { heartbeatMs, openConnection } from './redis-connection.ts';

const gatherMs = 50;

const messageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ from: v.string(), accountIds: v.array(v.string()) }),
);

export interface SignalOptions {
  readonly self: string;
  readonly onHeard: (accountIds: readonly string[]) => void;
  readonly onProblem: (error: unknown) => void;
}

/** Sends and receives signals. Some may be lost, so listeners also poll. */
export class RedisSignals {
  readonly #url: string;
  readonly #channel: string;
  readonly #options: SignalOptions;
  readonly #sending: Redis;
  #hearing: Redis | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<string>();
  #planned: NodeJS.Timeout | undefined;

  constructor(url: string, options: SignalOptions) {
    this.#url = url;
    // The channel contains the database's number, because Redis shares channels between databases.
    this.#channel = `animal-store:stored:${readRedisAddress(url)?.database ?? '0'}`;
    this.#options = options;
    const { onProblem } = options;
    this.#sending = openConnection(url, {
      onProblem,
      commandsEnd: true,
      lazyConnect: true,
      maxRetriesPerRequest: 1,
    }).redis;
  }

  /** Drops signals that cannot be sent within half a second. */
  tell(accountIds: readonly string[]): void {
    for (const id of accountIds) this.#waiting.add(id);
    this.#planned ??= setTimeout(() => void this.#send(), gatherMs);
  }

  listen(): void {
    if (this.#hearing) return;
    const { onProblem } = this.#options;
    const hearing = openConnection(this.#url, {
      onProblem,
      commandsEnd: false,
      maxRetriesPerRequest: null,
    }).redis;
    hearing.on('message', (_channel, text) => {
      const message = v.safeParse(messageSchema, text);
      if (!message.success || message.output.from === this.#options.self) return;
      this.#options.onHeard(message.output.accountIds);
    });
    hearing.subscribe(this.#channel).catch(onProblem);
    this.#hearing = hearing;
    // Without pings, a dead connection would go unnoticed.
    this.#heartbeat = setInterval(() => {
      if (hearing.status === 'ready') hearing.ping().catch(onProblem);
    }, heartbeatMs);
  }

  async close(): Promise<void> {
    await this.#send();
    clearInterval(this.#heartbeat);
    this.#sending.disconnect();
    this.#hearing?.disconnect();
  }

  async #send(): Promise<void> {
    clearTimeout(this.#planned);
    this.#planned = undefined;
    if (this.#waiting.size === 0) return;
    const accountIds = [...this.#waiting];
    this.#waiting.clear();
    const message = JSON.stringify({ from: this.#options.self, accountIds });
    await this.#sending.publish(this.#channel, message).catch(this.#options.onProblem);
  }
}
