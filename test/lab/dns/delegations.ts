import { Resolver } from 'node:dns/promises';
import type { Found, RecordType } from './zone.ts';

/** Zones that name servers elsewhere answer for. */
export class Delegations {
  readonly #ports = new Map<string, number>();

  add(zone: string, port: number): void {
    this.#ports.set(zone, port);
  }

  /** @returns what was found, with what the name server says where the names lead into its zone */
  async follow(found: Found, asked: string, type: RecordType): Promise<Found> {
    const last = found.records.at(-1);
    const name = last?.type === 'CNAME' && type !== 'CNAME' ? String(last.data) : asked;
    const port = this.#portFor(name);
    if (port === undefined || (last && last.type !== 'CNAME')) return found;
    if (last && type === 'CNAME') return found;
    const answer = await ask(port, name, type);
    return { rcode: answer.rcode, records: [...found.records, ...answer.records] };
  }

  #portFor(name: string): number | undefined {
    const found = [...this.#ports].find(([zone]) => `.${name}`.endsWith(`.${zone}`));
    return found?.[1];
  }
}

const answersOf = async (
  resolver: Resolver,
  name: string,
  type: RecordType,
): Promise<readonly unknown[]> => {
  if (type === 'TXT') return resolver.resolveTxt(name);
  return type === 'NS' ? resolver.resolveNs(name) : [];
};

const ask = async (port: number, name: string, type: RecordType): Promise<Found> => {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${port}`]);
  try {
    const answers = await answersOf(resolver, name, type);
    return { rcode: 'NOERROR', records: answers.map((data) => ({ name, type, ttl: 0, data })) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENODATA') return { rcode: 'NOERROR', records: [] };
    return { rcode: code === 'ENOTFOUND' ? 'NXDOMAIN' : 'SERVFAIL', records: [] };
  }
};
