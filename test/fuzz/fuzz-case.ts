import type { Chance } from './hostile-text.ts';

export const targets = [
  ...(['API', 'dashboard', 'edge HTTP/1.1', 'edge HTTP/2', 'edge TLS'] as const),
  'DNS answers',
] as const;
export type Target = (typeof targets)[number];

export interface Ask {
  readonly method: string;
  readonly path: string;
}

/** Several people of the attacking account, because the requests of each are limited. */
export const attackers = 6;

export type Port = 'service' | 'edge' | 'secure edge';

/**
 * Bytes over one connection. Each character is a byte; `{{name}}` stands for a value that only the running
 * service knows.
 */
export interface BytesCase {
  readonly target: Exclude<Target, 'DNS answers'>;
  readonly kind: string;
  readonly port: Port;
  readonly tls?: { readonly servername: string; readonly protocol: 'http/1.1' | 'h2' };
  readonly pieces: readonly string[];
  readonly asks: readonly Ask[];
  /**
   * `answers`: every request is well-formed and gets an answer. `any`: the connection ends or stays silent.
   * `ping`: the answer to a ping.
   */
  readonly wants: 'answers' | 'any' | 'ping';
}

/** The DNS of one domain is verified while each resolver returns a wrong answer. */
export interface DnsCase {
  readonly target: 'DNS answers';
  readonly kind: string;
  readonly domain: number;
  readonly seed: number;
}

export type FuzzCase = (BytesCase | DnsCase) & { readonly number?: number };

export const requestsIn = (one: FuzzCase): number => ('asks' in one ? one.asks.length : 1);

export const dnsCase = (chance: Chance, domains: number): DnsCase => ({
  target: 'DNS answers',
  kind: 'mangled answers',
  domain: chance.below(domains),
  seed: chance.below(2 ** 31),
});
