import type { NodeDnsVerifierOptions } from '../../../src/adapters/dns/node-dns-verifier.ts';
import { nameServer, parseServer, canBeAsked } from '../../../src/adapters/dns/wire-questions.ts';
import {
  tryAgain,
  tryOnce,
  type QuestionLimits,
  withinLimits,
} from '../../../src/adapters/dns/resolver-questions.ts';
import type { DnsAnswer, UncheckedAnswer } from '../../../src/domains/domain/dns/facts.ts';
import { DnsResolver, type Reply, type ResolverState } from './dns-resolver.ts';
import { parentOf, type RecordData, type RecordType } from './dns-records.ts';
import { DnsZones, type Alias, type Failed, type Found, type Soon } from './dns-zones.ts';
import { pass, within } from './durations.ts';

/**
 * | state  | what the name servers of the zone and of those below do |
 * | ------ | ------------------------------------------------------- |
 * | silent | never answer, so that resolvers give up                 |
 * | slow   | answer after so many milliseconds                       |
 * | lame   | do not know the zone                                    |
 * | bogus  | answer, but not as the DS record of the zone above says |
 */
export type ZoneState =
  { readonly kind: 'silent' | 'lame' | 'bogus' } | { readonly kind: 'slow'; readonly ms: number };

export interface DnsOptions {
  /** True time in milliseconds. */
  readonly now: () => number;
  readonly suffixes: readonly string[];
  readonly resolvers: readonly string[];
}

type QuestionsTo = NonNullable<NodeDnsVerifierOptions['questionsTo']>;

const day = 86_400;
/** The longest TTL that the resolvers of authorities and visitors keep, in seconds. */
const longestTtlElsewhere = 60;
/** How long resolvers wait for name servers, and outside lookups for their resolver. */
const patienceMs = { nameServers: 5_000, lookup: 10_000 } as const;

/** The DNS of the world: published records, the resolvers of each place, and faults in between. */
export class Dns {
  readonly zones: DnsZones;
  readonly #now: () => number;
  readonly #resolvers = new Map<string, DnsResolver>();
  readonly #zoneStates = new Map<string, ZoneState>();

  constructor({ now, suffixes, resolvers }: DnsOptions) {
    this.#now = now;
    this.zones = new DnsZones(suffixes);
    for (const address of resolvers) this.#open(nameServer(parseServer(address)), day);
  }

  /** An undefined state ends the previous one. */
  readonly weather = {
    /** @param place the address of a resolver, or a vantage point */
    resolver: (place: string, state: ResolverState | undefined): void => {
      this.#resolverAt(place).state = state;
    },
    zone: (apex: string, state: ZoneState | undefined): void => {
      if (state) this.#zoneStates.set(apex, state);
      else this.#zoneStates.delete(apex);
    },
  };

  /**
   * Looks up a name from elsewhere. Each vantage point has a separate resolver, which keeps answers for a minute. The
   * address of a resolver is a vantage point too. Never rejects.
   */
  lookup<Type extends RecordType>(vantage: string, name: string, type: Type): Promise<Reply<Type>> {
    const reply = this.#resolverAt(vantage).ask(name, type);
    return reply instanceof Promise
      ? within(patienceMs.lookup, reply, { ...timedOut, chain: [] })
      : Promise.resolve(reply);
  }

  /** For `NodeDnsVerifier`: queries resolvers without a network. */
  readonly questionsTo: QuestionsTo = (server, patience) => {
    const resolver = this.#resolverAt(nameServer(server));
    const ask = <Type extends RecordType>(name: string, type: Type) =>
      canBeAsked(name)
        ? askPatiently(() => resolver.ask(name, type), patience)
        : Promise.resolve(malformed);
    const texts = async (name: string) =>
      withinLimits(
        told(await ask(name, 'TXT'), (text) => text),
        (text) => text,
      );
    return {
      a: (name) => ask(name, 'A'),
      aaaa: (name) => ask(name, 'AAAA'),
      cname: async (name) => told(await ask(name, 'CNAME'), (target) => target),
      txt: texts,
      ns: async (name) => told(await ask(name, 'NS'), (host) => host),
      soa: async (name) => told(await ask(name, 'SOA'), ({ mname }) => mname),
      caa: async (name) => {
        const answer = await ask(name, 'CAA');
        const isAuthentic = answer.kind !== 'failed' && this.zones.isSigned(name);
        return isAuthentic ? { ...answer, isAuthentic } : answer;
      },
      unchecked: ({ type, name }) => {
        const asked = recordTypes.find((it) => it === type);
        if (!asked || !canBeAsked(name)) return Promise.resolve(undefined);
        const question = `${type} ${name}`;
        return tryOnce(
          async () => unchecked(question, await resolver.ask(name, asked)),
          patience,
        ).catch(() => undefined);
      },
    };
  };

  #resolverAt(place: string): DnsResolver {
    return this.#resolvers.get(place) ?? this.#open(place, longestTtlElsewhere);
  }

  #open(place: string, longestTtl: number): DnsResolver {
    const find = <Type extends RecordType>(name: string, type: Type) => this.#find(name, type);
    const resolver = new DnsResolver({ now: this.#now, find, longestTtl });
    this.#resolvers.set(place, resolver);
    return resolver;
  }

  #find<Type extends RecordType>(name: string, type: Type): Soon<Found<Type> | Alias> {
    const state = this.#zoneStateOf(name);
    switch (state?.kind) {
      case 'silent':
        return pass(patienceMs.nameServers).then(() => servfail);
      case 'slow':
        return pass(state.ms).then(() => this.#askZone(name, type));
      case 'lame':
        return servfail;
      case 'bogus':
        return { ...servfail, isBogus: true };
      case undefined:
        return this.#askZone(name, type);
    }
  }

  #askZone<Type extends RecordType>(name: string, type: Type): Soon<Found<Type> | Alias> {
    const found = this.zones.find(name, type);
    return found instanceof Promise
      ? within(
          patienceMs.nameServers,
          found.catch(() => servfail),
          servfail,
        )
      : found;
  }

  #zoneStateOf(name: string): ZoneState | undefined {
    if (this.#zoneStates.size === 0) return undefined;
    for (let at = name; at !== ''; at = parentOf(at)) {
      const state = this.#zoneStates.get(at);
      if (state) return state;
    }
    return undefined;
  }
}

const servfail: Failed = { kind: 'failed', reason: 'servfail' };
const timedOut = { kind: 'failed', reason: 'timeout' } as const;
const malformed = { kind: 'failed', reason: 'malformed' } as const;
const recordTypes = ['A', 'AAAA', 'CNAME', 'TXT', 'CAA', 'NS', 'SOA'] as const;

/** An immediate answer needs no queue and no timer, because a retry would give the same. */
const askPatiently = <Type extends RecordType>(
  ask: () => Soon<Reply<Type>>,
  patience: QuestionLimits,
): Promise<DnsAnswer<RecordData[Type]>> => {
  if (patience.deadline.aborted) return Promise.resolve(timedOut);
  let begun: Soon<Reply<Type>> | undefined = ask();
  if (!(begun instanceof Promise)) return Promise.resolve(answerOf(begun));
  return tryAgain(async () => {
    const reply = begun ?? ask();
    begun = undefined;
    return answerOf(await reply);
  }, patience);
};

const answerOf = <Type extends RecordType>(reply: Reply<Type>): DnsAnswer<RecordData[Type]> => {
  if (reply.kind === 'records') {
    const { kind, records, ttl } = reply;
    return { kind, records, ttl };
  }
  return reply.kind === 'failed' ? { kind: 'failed', reason: reply.reason } : { kind: reply.kind };
};

/** In the form of node:dns, without the TTL. */
const told = <From>(
  answer: DnsAnswer<From>,
  textOf: (record: From) => string,
): DnsAnswer<string> =>
  answer.kind === 'records'
    ? { kind: 'records', records: answer.records.map(textOf), ttl: undefined }
    : answer;

/** The extended error of a DS record without its key (RFC 8914, section 4.10). */
const unchecked = (question: string, reply: Reply<RecordType>): UncheckedAnswer | undefined =>
  reply.kind === 'failed' && reply.isBogus === true
    ? { question, errors: [{ code: 9, text: 'no key matches the DS record' }] }
    : undefined;
