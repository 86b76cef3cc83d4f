import { Resolver } from 'node:dns/promises';
import type { DnsAnswer, DnsFailure } from '../../domains/domain/dns/facts.ts';
import { showServer, type ServerAddress } from './server-address.ts';

/** Records as they are told, with their TTL where node:dns knows it. */
export interface Records<Item> {
  readonly items: readonly Item[];
  readonly ttl?: number;
}

/**
 * Asks one resolver by node:dns. A Resolver shortens its time limit to a few times what its last answers took:
 * questions that are not in the resolver's cache then time out. So only what is asked before the first answer shares
 * one; each costs a socket.
 */
export class NodeQuestions {
  readonly #server: string;
  readonly #end: AbortSignal;
  #unanswered: Resolver | undefined;

  /** @param end nothing is waited for after it aborts; it has to, or sockets stay open */
  constructor(server: ServerAddress, end: AbortSignal) {
    this.#server = showServer(server);
    this.#end = end;
  }

  /** Never rejects. */
  async ask<Item>(
    question: (resolver: Resolver) => Promise<Records<Item>>,
    signal: AbortSignal,
  ): Promise<DnsAnswer<Item>> {
    try {
      const { items, ttl } = await untilAborted(question(this.#resolver()), signal);
      // node:dns returns an empty list for a CNAME that ends without a record of the type.
      return items.length === 0 ? { kind: 'none' } : { kind: 'records', records: items, ttl };
    } catch (error) {
      return signal.aborted ? timedOut : fromCode((error as NodeJS.ErrnoException).code);
    } finally {
      this.#unanswered = undefined;
    }
  }

  #resolver(): Resolver {
    if (this.#unanswered) return this.#unanswered;
    const resolver = new Resolver({ timeout: longestMs, tries: 1 });
    resolver.setServers([this.#server]);
    // Not cancelled when one question takes too long, because others may share it.
    this.#end.addEventListener(
      'abort',
      () => {
        resolver.cancel();
      },
      { once: true },
    );
    this.#unanswered = resolver;
    return resolver;
  }
}

const timedOut = { kind: 'failed', reason: 'timeout' } as const;

const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', abort, { once: true });
    void work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });

/** The signals end a question; this only keeps c-ares from asking a second time by itself before that. */
const longestMs = 30_000;

const reasons: Partial<Record<string, DnsFailure>> = {
  ETIMEOUT: 'timeout',
  ECANCELLED: 'timeout',
  ESERVFAIL: 'servfail',
  EREFUSED: 'refused',
  ENOTIMP: 'refused',
  ECONNREFUSED: 'unreachable',
};

const fromCode = (code = ''): DnsAnswer<never> => {
  if (code === 'ENOTFOUND') return { kind: 'no_such_name' };
  if (code === 'ENODATA') return { kind: 'none' };
  return { kind: 'failed', reason: reasons[code] ?? 'malformed' };
};
