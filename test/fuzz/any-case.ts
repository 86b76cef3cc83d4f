import { apiCase } from './api-cases.ts';
import { Chance } from './hostile-text.ts';
import { dashboardCase, type KnownPages } from './dashboard-cases.ts';
import { dnsCase, type FuzzCase, type Target } from './fuzz-case.ts';
import { edgeCase, helloCase } from './edge-cases.ts';
import { http2Case } from './http2-cases.ts';

export interface Known {
  readonly pages: KnownPages;
  readonly domains: number;
}

/** The number of cases of each kind in about a hundred; expensive kinds are rare. */
const shares = {
  API: 35,
  dashboard: 30,
  'edge HTTP/1.1': 20,
  'edge HTTP/2': 12,
  'edge TLS': 5,
  'DNS answers': 2,
} as const satisfies Record<Target, number>;

const makers = {
  API: apiCase,
  dashboard: (chance, { pages }) => dashboardCase(chance, pages),
  'edge HTTP/1.1': edgeCase,
  'edge HTTP/2': http2Case,
  'edge TLS': helloCase,
  'DNS answers': (chance, { domains }) => dnsCase(chance, domains),
} satisfies Record<Target, (chance: Chance, known: Known) => FuzzCase>;

const lots = Object.entries(shares).flatMap(([target, share]) =>
  Array<Target>(share).fill(target as Target),
);

/** The same seed and number give the same case, as long as the dashboard has the same pages. */
export const anyCase = (seed: number, number: number, known: Known): FuzzCase => {
  const chance = new Chance(seed, number);
  return { number, ...makers[chance.pick(lots)](chance, known) };
};
