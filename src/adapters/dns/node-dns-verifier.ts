import PQueue from 'p-queue';
import type { Clock } from '../../kernel/ports.ts';
import { traced, type Span, type Tracer } from '../../kernel/tracer.ts';
import { delegationNameOf, challengeNameOf } from '../../domains/domain/dns/records.ts';
import { isWildcard, baseOf } from '../../domains/domain/names/hostname.ts';
import type {
  DnsAnswer,
  DnsFacts,
  ResolverFacts,
  UncheckedAnswer,
  CaaLevel,
  CnameChain,
  DnsZone,
} from '../../domains/domain/dns/facts.ts';
import { DnsVerifier } from '../../domains/ports.ts';
import { questionsTo, type Questions } from './resolver-questions.ts';
import {
  nameServer,
  parseServer,
  type ServerAddress,
  longestName,
  type WireQuestion,
} from './wire-questions.ts';

export interface NodeDnsVerifierOptions {
  /** Each server is `ip`, `ip:port` or `[ipv6]:port`. */
  readonly servers: readonly string[];
  readonly clock: Clock;
  readonly randomLabel: () => string;
  readonly perTryMs?: number;
  readonly tries?: number;
  readonly deadlineMs?: number;
  readonly asksForDelegation?: boolean;
  readonly tracer?: Tracer | undefined;
  readonly questionsTo?: typeof questionsTo;
}

const questionsAtOnce = 250;

/** Shared by all lookups, because creating an error is slow. */
const enoughAsked = new Error('the lookup is over');

interface Server {
  readonly address: ServerAddress;
  readonly queue: PQueue;
}

/** Queries with node:dns, except CAA (see `askCaa`). A hanging resolver does not delay others. */
export class NodeDnsVerifier extends DnsVerifier {
  readonly #servers: readonly Server[];
  readonly #options: Required<Omit<NodeDnsVerifierOptions, 'tracer'>>;
  readonly #tracer: Tracer | undefined;

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
        resolver: nameServer(address),
        tookMs,
        ...facts,
        delegation,
        ...(unchecked && { unchecked }),
      };
    } finally {
      end.abort(enoughAsked);
      clearTimeout(timer);
    }
  }
}

/** Records one span for all tries, without the answer's content. */
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

interface AskedNames {
  readonly host: string;
  /** The name to look up: the host, or a name that the wildcard covers. */
  readonly probe: string;
  readonly sibling: string;
}

const askAll = async (
  ask: Questions,
  { host, probe, sibling }: AskedNames,
): Promise<Omit<ResolverFacts, 'resolver' | 'tookMs'>> => {
  const first = ask.cname(probe);
  const [cname, chain, a, aaaa, txt, beside, soa, ns, caa, above] = await Promise.all([
    first,
    walkChain(ask, probe, first),
    ask.a(probe),
    ask.aaaa(probe),
    ask.txt(challengeNameOf(host)),
    askSibling(ask, sibling),
    ask.soa(probe),
    ask.ns(probe),
    climb(ask, baseOf(host)),
    zoneAbove(ask, host),
  ]);
  // SOA and NS records at a CNAME belong to its target.
  const isZoneApex = [soa, ns].every(hasRecords) && !hasRecords(cname);
  const zone = isZoneApex ? zoneAt(host, ns) : above;
  const facts = { cname, chain, a, aaaa, txt, sibling: beside, isZoneApex, caa };
  return zone ? { ...facts, zone } : facts;
};

const zoneAbove = async (ask: Questions, host: string): Promise<DnsZone | undefined> => {
  const parents = namesUpwards(host).slice(1, -1);
  const zones = await Promise.all(parents.map(async (name) => zoneAt(name, await ask.ns(name))));
  return zones.find((zone) => zone !== undefined);
};

const zoneAt = (name: string, ns: DnsAnswer<string>): DnsZone | undefined =>
  ns.kind === 'records' ? { name, nameServers: ns.records } : undefined;

const hasRecords = ({ kind }: DnsAnswer<unknown>): boolean => kind === 'records';

const mostHops = 10;

const walkChain = async (
  ask: Questions,
  host: string,
  first: Promise<DnsAnswer<string>>,
): Promise<CnameChain> => {
  const names: string[] = [];
  for (let answer = await first; ; answer = await ask.cname(names.at(-1) ?? host)) {
    if (answer.kind === 'failed') return { names, end: 'failed' };
    const next = answer.kind === 'records' ? answer.records[0] : undefined;
    if (next === undefined) return { names, end: 'reached' };
    if (next === host || names.includes(next)) return { names, end: 'loop' };
    if (names.length === mostHops) return { names, end: 'too_long' };
    names.push(next);
  }
};

/** Asks at each level upwards, but never at the parents of a CNAME's target (RFC 8659, section 3). */
const climb = async (ask: Questions, host: string): Promise<readonly CaaLevel[]> => {
  const asked = namesUpwards(host).map((name) => ({ name, answer: ask.caa(name) }));
  const levels: CaaLevel[] = [];
  for (const { name, answer } of asked) {
    const level = { name, answer: await answer };
    levels.push(level);
    if (level.answer.kind === 'records' || level.answer.kind === 'failed') break;
  }
  return levels;
};

const namesUpwards = (host: string): readonly string[] =>
  host.split('.').map((_, at, labels) => labels.slice(at).join('.'));

const askSibling = async (ask: Questions, name: string): Promise<DnsAnswer<string>> => {
  const answers = [ask.cname(name), ask.a(name), ask.aaaa(name)] as const;
  const [cname, a, aaaa] = await Promise.all(answers);
  return [cname, a, aaaa].find(hasRecords) ?? a;
};

type Facts = Pick<ResolverFacts, 'cname' | 'a' | 'aaaa' | 'txt' | 'caa' | 'delegation'>;

/** Finds out whether DNSSEC made a resolver fail. Behind a CNAME, addresses and CAA may come from our own zone. */
const findUnchecked = async (
  ask: Questions,
  asked: AskedNames,
  facts: Facts,
): Promise<UncheckedAnswer | undefined> => {
  const failed = questionsOf(asked, facts).find(([, answer]) => isServerFailure(answer));
  return failed && ask.unchecked(failed[0]);
};

type Asked = readonly [question: WireQuestion, answer: DnsAnswer<unknown>];

const questionsOf = (
  { host, probe }: AskedNames,
  { cname, a, aaaa, txt, caa, delegation }: Facts,
): readonly Asked[] => {
  const leadsAway = cname.kind === 'records';
  const levels = caa.filter(({ name }) => !(leadsAway && name === host));
  return [
    [{ type: 'CNAME', name: probe }, cname],
    ...(leadsAway
      ? []
      : ([
          [{ type: 'A', name: probe }, a],
          [{ type: 'AAAA', name: probe }, aaaa],
        ] as const)),
    [{ type: 'TXT', name: challengeNameOf(host) }, txt],
    ...(delegation ? [[{ type: 'CNAME', name: delegationNameOf(host) }, delegation] as const] : []),
    ...levels.map(({ name, answer }): Asked => [{ type: 'CAA', name }, answer]),
  ];
};

const isServerFailure = (answer: DnsAnswer<unknown>): boolean =>
  answer.kind === 'failed' && answer.reason === 'servfail';
