import { LRUCache } from 'lru-cache';
import type { DnsFailure } from '../../../src/domains/domain/dns/facts.ts';
import type { RecordType } from './dns-records.ts';
import type { Alias, Failed, Found, FoundRecords, Missing, Soon } from './dns-zones.ts';
import { pass } from './durations.ts';

/**
 * | state   | what the resolver does                                |
 * | ------- | ----------------------------------------------------- |
 * | silent  | never answers                                         |
 * | slow    | answers after so many milliseconds                    |
 * | failing | fails at once                                         |
 * | stale   | answers what it once heard, however long ago          |
 * | denying | says that no name exists                              |
 * | foreign | says this IPv4 address of every name, and no IPv6 one |
 */
export type ResolverState =
  | { readonly kind: 'silent' | 'stale' | 'denying' }
  | { readonly kind: 'failing'; readonly reason: Exclude<DnsFailure, 'timeout'> }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'foreign'; readonly address: string };

export type Reply<Type extends RecordType> = Found<Type> & { readonly chain: readonly string[] };

export interface ResolverPorts {
  /** Milliseconds. */
  readonly now: () => number;
  readonly find: <Type extends RecordType>(name: string, type: Type) => Soon<Found<Type> | Alias>;
  readonly longestTtl: number;
}

interface Kept<What> {
  readonly found: What;
  readonly until: number;
}
type KeptSets = { [Type in RecordType]?: Kept<FoundRecords<Type> | Missing> };
interface KeptName {
  readonly sets: KeptSets;
  /** The name does not exist for any type (RFC 2308, section 5). */
  denied?: Kept<Missing>;
}

const mostNames = 10_000;
const mostHops = 16;

/** A caching resolver. It keeps answers, including negative ones, for their TTL, but no failures. */
export class DnsResolver {
  readonly #ports: ResolverPorts;
  readonly #names = new LRUCache<string, KeptName>({ max: mostNames });
  state: ResolverState | undefined;

  constructor(ports: ResolverPorts) {
    this.#ports = ports;
  }

  /** The answer of a silent resolver never settles. Never rejects. */
  ask<Type extends RecordType>(asked: string, type: Type): Soon<Reply<Type>> {
    const { state } = this;
    const name = asked.toLowerCase().replace(/\.$/, '');
    switch (state?.kind) {
      case 'silent':
        return new Promise(() => undefined);
      case 'slow':
        return pass(state.ms).then(() => this.#follow(name, type, []));
      case 'failing':
        return { kind: 'failed', reason: state.reason, chain: [] };
      case 'denying':
        return { kind: 'no_such_name', ttl: 0, chain: [] };
      case 'foreign':
        return foreign(state.address, type) ?? this.#follow(name, type, []);
      case 'stale':
      case undefined:
        return this.#follow(name, type, []);
    }
  }

  #follow<Type extends RecordType>(
    name: string,
    type: Type,
    chain: readonly string[],
  ): Soon<Reply<Type>> {
    const found = this.#kept(name, type) ?? this.#hear(name, type);
    return found instanceof Promise
      ? found.then((its) => this.#goOn(its, type, chain))
      : this.#goOn(found, type, chain);
  }

  #goOn<Type extends RecordType>(
    found: Found<Type> | Alias,
    type: Type,
    chain: readonly string[],
  ): Soon<Reply<Type>> {
    if (found.kind !== 'alias') return { ...found, chain };
    const [target] = found.cname.records;
    if (target === undefined || chain.length === mostHops) return { ...tooLong, chain };
    return this.#follow(target, type, [...chain, target]);
  }

  #hear<Type extends RecordType>(name: string, type: Type): Soon<Found<Type> | Alias> {
    const found = this.#ports.find(name, type);
    if (found instanceof Promise) return found.then((its) => this.#remember(name, type, its));
    return this.#remember(name, type, found);
  }

  #remember<Type extends RecordType>(
    name: string,
    type: Type,
    found: Found<Type> | Alias,
  ): Found<Type> | Alias {
    if (found.kind === 'alias') this.#keep(name, 'CNAME', found.cname);
    else if (found.kind !== 'failed') this.#keep(name, type, found);
    return found;
  }

  #kept<Type extends RecordType>(name: string, type: Type): Found<Type> | Alias | undefined {
    const its = this.#names.get(name);
    if (!its) return undefined;
    const found = this.#fresh(its.sets[type]);
    if (found) return found;
    const cname = this.#fresh(its.sets.CNAME);
    if (cname?.kind === 'records') return { kind: 'alias', cname };
    return this.#fresh(its.denied);
  }

  /** With the remaining TTL. */
  #fresh<What extends { readonly ttl: number }>(kept: Kept<What> | undefined): What | undefined {
    if (!kept) return undefined;
    const left = Math.ceil((kept.until - this.#ports.now()) / 1_000);
    if (left <= 0 && this.state?.kind !== 'stale') return undefined;
    return { ...kept.found, ttl: Math.max(0, left) };
  }

  #keep<Type extends RecordType>(
    name: string,
    type: Type,
    found: FoundRecords<Type> | Missing,
  ): void {
    const its = this.#names.get(name) ?? { sets: {} };
    if (!this.#names.has(name)) this.#names.set(name, its);
    const until = this.#ports.now() + Math.min(found.ttl, this.#ports.longestTtl) * 1_000;
    if (found.kind === 'no_such_name') its.denied = { found, until };
    else its.sets[type] = { found, until } as KeptSets[Type];
  }
}

const tooLong: Failed = { kind: 'failed', reason: 'servfail' };

const foreign = <Type extends RecordType>(address: string, type: Type): Reply<Type> | undefined => {
  if (type === 'AAAA') return { kind: 'none', ttl: 0, chain: [] };
  if (type !== 'A') return undefined;
  return {
    kind: 'records',
    records: [address],
    ttl: 60,
    chain: [],
  } as Reply<RecordType> as Reply<Type>;
};
