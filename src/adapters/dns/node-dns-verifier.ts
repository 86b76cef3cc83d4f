import PQueue from 'p-queue';
import type { Clock } from '../../kernel/clock.ts';
import type { DnsFacts, ResolverFacts } from '../../domains/domain/dns/facts.ts';
import { DnsVerifier } from '../../domains/ports.ts';
import { askAll } from './resolver-facts.ts';
import { questionsTo } from './resolver-questions.ts';
import { nameServer, parseServer, type ServerAddress } from './server-address.ts';

export interface NodeDnsVerifierOptions {
  /** Each as `ip`, `ip:port` or `[ipv6]:port`. */
  readonly servers: readonly string[];
  readonly clock: Clock;
  /** A random label that does not exist, new each time. */
  readonly randomLabel: () => string;
  readonly perTryMs?: number;
  readonly tries?: number;
  /** For all questions to a resolver together; unanswered ones then fail with a timeout. */
  readonly deadlineMs?: number;
}

/** Each question has a socket of its own. Beyond so many, the next ones to the same resolver wait. */
const questionsAtOnce = 250;

interface Server {
  readonly address: ServerAddress;
  readonly turns: PQueue;
}

/** Queries with node:dns, except CAA: see `askCaa`. A hanging resolver does not delay queries to others. */
export class NodeDnsVerifier extends DnsVerifier {
  readonly #servers: readonly Server[];
  readonly #options: Required<NodeDnsVerifierOptions>;

  /** @throws Error for a server that is not an IP address with or without a port */
  constructor(options: NodeDnsVerifierOptions) {
    super();
    this.#servers = options.servers.map((server) => ({
      address: parseServer(server),
      turns: new PQueue({ concurrency: questionsAtOnce }),
    }));
    this.#options = { perTryMs: 2_000, tries: 2, deadlineMs: 10_000, ...options };
  }

  override async inspect(host: string): Promise<DnsFacts> {
    const { clock, randomLabel } = this.#options;
    const name = host.toLowerCase().replace(/\.$/, '');
    const sibling = [randomLabel(), ...name.split('.').slice(1)].join('.');
    const checkedAt = clock.now();
    const resolvers = await Promise.all(
      this.#servers.map((server) => this.#ask(server, name, sibling)),
    );
    return { host: name, checkedAt, resolvers };
  }

  async #ask({ address, turns }: Server, host: string, sibling: string): Promise<ResolverFacts> {
    const { perTryMs, tries, deadlineMs } = this.#options;
    const start = performance.now();
    const end = new AbortController();
    const deadline = AbortSignal.any([end.signal, AbortSignal.timeout(deadlineMs)]);
    try {
      const ask = questionsTo(address, { perTryMs, tries, deadline, turns });
      const facts = await askAll(ask, host, sibling);
      return { resolver: nameServer(address), tookMs: elapsedSince(start), ...facts };
    } finally {
      // Questions that turned out not to matter may still be open.
      end.abort();
    }
  }
}

const elapsedSince = (start: number): number => Math.round(performance.now() - start);
