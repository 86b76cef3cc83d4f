import type { Clock } from '../../../src/kernel/ports.ts';
import type { DnsFacts, ResolverFacts } from '../../../src/domains/domain/dns/facts.ts';
import { baseOf, isWildcard } from '../../../src/domains/domain/names/hostname.ts';
import { DnsVerifier } from '../../../src/domains/ports.ts';

/** The known facts of a host. Other facts are those of a name that does not exist. */
export type KnownFacts = Partial<Omit<ResolverFacts, 'resolver'>>;

export class ScriptedDns extends DnsVerifier {
  readonly #clock: Clock;
  readonly #resolvers: readonly string[];
  readonly #hosts = new Map<string, ReadonlyMap<string, KnownFacts>>();

  constructor(
    clock: Clock,
    resolvers: readonly string[] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  ) {
    super();
    this.#clock = clock;
    this.#resolvers = resolvers;
  }

  /**
   * Replaces the facts of the host.
   * @param liars resolvers that answer differently
   */
  tell(host: string, facts: KnownFacts, liars: Readonly<Record<string, KnownFacts>> = {}): void {
    const known = this.#resolvers.map((its) => [its, liars[its] ?? facts] as const);
    this.#hosts.set(host, structuredClone(new Map(known)));
  }

  override inspect(host: string): Promise<DnsFacts> {
    const name = host.toLowerCase().replace(/\.$/, '');
    const known = this.#hosts.get(name);
    const resolvers = this.#resolvers.map((resolver) => ({
      resolver,
      ...unknownHost(name),
      ...known?.get(resolver),
    }));
    return Promise.resolve({
      host: name,
      ...(isWildcard(name) && { probe: `made-up.${baseOf(name)}` }),
      checkedAt: this.#clock.now(),
      resolvers: structuredClone(resolvers),
    });
  }
}

const absent = { kind: 'no_such_name' } as const;

const unknownHost = (host: string): Omit<ResolverFacts, 'resolver'> => ({
  tookMs: 0,
  cname: absent,
  chain: { names: [], end: 'reached' },
  a: absent,
  aaaa: absent,
  txt: absent,
  sibling: absent,
  isZoneApex: false,
  caa: baseOf(host)
    .split('.')
    .map((_, at, labels) => ({
      name: labels.slice(at).join('.'),
      answer: absent,
    })),
});
