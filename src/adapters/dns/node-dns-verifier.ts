import PQueue from 'p-queue';
import type { Clock } from '../../kernel/ports.ts';
import { traced, type Span, type Tracer } from '../../kernel/tracer.ts';
import { delegationNameOf } from '../../domains/domain/dns/records.ts';
import { isWildcard } from '../../domains/domain/names/name-rules.ts';
import type {
  DnsAnswer,
  DnsFacts,
  ResolverFacts,
  UncheckedAnswer,
} from '../../domains/domain/dns/facts.ts';
import { DnsVerifier } from '../../domains/ports.ts';
import { askAll, findUnchecked, type AskedNames } from './resolver-facts.ts';
import { questionsTo, type Questions } from './resolver-questions.ts';
import { nameServer, parseServer, type ServerAddress } from './server-address.ts';
import { longestName } from './wire-questions.ts';

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
  /** Whether there is a zone that a challenge name could lead to. */
  readonly asksForDelegation?: boolean;
  /** Each question is a step. */
  readonly tracer?: Tracer | undefined;
  /** How a resolver is asked: over the network, unless it is a model. */
  readonly questionsTo?: typeof questionsTo;
}

/** Each question has a socket of its own. Beyond so many, the next ones to the same resolver wait. */
const questionsAtOnce = 250;

/** One error for all lookups, because an error is slow to create. */
const enoughAsked = new Error('the lookup is over');

interface Server {
  readonly address: ServerAddress;
  readonly queue: PQueue;
}

/** Queries with node:dns, except CAA: see `askCaa`. A hanging resolver does not delay queries to others. */
export class NodeDnsVerifier extends DnsVerifier {
  readonly #servers: readonly Server[];
  readonly #options: Required<Omit<NodeDnsVerifierOptions, 'tracer'>>;
  readonly #tracer: Tracer | undefined;

  /** @throws Error for a server that is not an IP address with or without a port */
  constructor(options: NodeDnsVerifierOptions) {
    super();
    this.#servers = options.servers.map((server) => ({
      address: parseServer(server),
      queue: new PQueue({ concurrency: questionsAtOnce }),
    }));
    this.#tracer = options.tracer;
    const usual = { perTryMs: 2_000, tries: 2, deadlineMs: 10_000, asksForDelegation: false };
    this.#options = { ...usual, questionsTo, ...options };
  }

  override async inspect(host: string): Promise<DnsFacts> {
    const { clock, randomLabel } = this.#options;
    const name = host.toLowerCase().replace(/\.$/, '');
    const sibling = [randomLabel(), ...name.split('.').slice(1)].join('.');
    // No name begins with an asterisk, so a wildcard is seen at one that it covers.
    const probe = isWildcard(name) ? sibling : undefined;
    const its = { host: name, probe: probe ?? name, sibling };
    const checkedAt = clock.now();
    const resolvers = await Promise.all(this.#servers.map((server) => this.#ask(server, its)));
    return { host: name, ...(probe !== undefined && { probe }), checkedAt, resolvers };
  }

  async #ask({ address, queue }: Server, its: AskedNames): Promise<ResolverFacts> {
    const { perTryMs, tries, deadlineMs, asksForDelegation } = this.#options;
    const start = performance.now();
    const end = new AbortController();
    const timer = setTimeout(() => {
      end.abort(enoughAsked);
    }, deadlineMs).unref();
    try {
      const ask = this.#options.questionsTo(address, {
        perTryMs,
        tries,
        deadline: end.signal,
        queue,
      });
      const asked = this.#tracer ? tracedQuestions(ask, this.#tracer, address) : ask;
      const [facts, delegation] = await Promise.all([
        askAll(asked, its),
        asksForDelegation ? delegationOf(asked, its.host) : undefined,
      ]);
      const unchecked = await findUnchecked(asked, its, { ...facts, delegation });
      const tookMs = elapsedSince(start);
      return {
        ...{ resolver: nameServer(address), tookMs, ...facts, delegation },
        ...(unchecked && { unchecked }),
      };
    } finally {
      end.abort(enoughAsked);
      clearTimeout(timer);
    }
  }
}

/** Each question is a step, with all its tries. What the answer says is left out. */
const tracedQuestions = (
  ask: Questions,
  tracer: Tracer,
  { ip, port }: ServerAddress,
): Questions => {
  const stepOf = (type: string, name: string) => ({
    name: `DNS ${type}`,
    kind: 'client' as const,
    facts: {
      'dns.question.name': name,
      'animal_store.dns.question.type': type,
      'server.address': ip,
      'server.port': port,
    },
  });
  const asks = (type: string) => (name: string) => ({
    ...stepOf(type, name),
    answered: tellAnswer,
  });
  return traced(ask, tracer, {
    a: asks('A'),
    aaaa: asks('AAAA'),
    cname: asks('CNAME'),
    txt: asks('TXT'),
    caa: asks('CAA'),
    ns: asks('NS'),
    soa: asks('SOA'),
    unchecked: ({ type, name }) => ({ ...stepOf(type, name), answered: tellWhetherUnchecked }),
  });
};

const tellAnswer = (span: Span, answer: DnsAnswer<unknown>): void => {
  span.tell({ 'animal_store.dns.outcome': answer.kind });
  if (answer.kind === 'failed') span.fail(answer.reason);
};

const tellWhetherUnchecked = (span: Span, answer: UncheckedAnswer | undefined): void => {
  span.tell({ 'animal_store.dns.outcome': answer ? 'only_unchecked' : 'not_bogus' });
};

const delegationOf = (asked: Questions, host: string): Promise<DnsAnswer<string>> => {
  const name = delegationNameOf(host);
  return name.length > longestName ? Promise.resolve({ kind: 'none' }) : asked.cname(name);
};

const elapsedSince = (start: number): number => Math.round(performance.now() - start);
