import type { Chance } from './chance.ts';
import type { DnsCase } from './fuzz-case.ts';

export const dnsCase = (chance: Chance, domains: number): DnsCase => ({
  target: 'DNS answers',
  kind: 'mangled answers',
  domain: chance.below(domains),
  seed: chance.below(2 ** 31),
});
