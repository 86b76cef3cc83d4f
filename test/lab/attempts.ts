import type { ValidationMethod } from '../../src/domains/domain/dns/validation.ts';
import { until } from '../support/until.ts';
import type { CaFault } from './authority/gate-faults.ts';
import type { DomainLab } from './domain-lab.ts';
import type { FakeClock } from './fake-clock.ts';
import type { Shop } from './shop.ts';
import { pointFor } from './validation-methods.ts';

interface Wanted {
  readonly host: string;
  readonly method: ValidationMethod;
  /** What the authority does wrong with its orders, at first. */
  readonly fault?: CaFault;
}

interface Place {
  readonly lab: DomainLab;
  readonly clock: FakeClock;
  readonly shop: Shop;
}

export interface Attempts {
  /** Adds a domain with the right records and verifies it. */
  readonly add: (wanted: Wanted) => Promise<void>;
  /** Adds domains, and waits until the authority was asked for each while it has these faults. */
  readonly attempt: (...all: readonly Wanted[]) => Promise<void>;
}

export const attempts = ({ lab, clock, shop }: Place): Attempts => {
  const add = async ({ host, method }: Wanted): Promise<void> => {
    pointFor(lab, method, await shop.add(host));
    await until(`${host} is verified`, async () => {
      if ((await shop.verify(host)).domain.state !== 'added') return true;
      // Name servers were too slow, on a busy machine.
      await clock.advance(11);
      return false;
    });
  };
  return {
    add,
    attempt: async (...all) => {
      lab.gate.setFaults(...all.flatMap(({ host, fault }) => (fault ? [{ ...fault, host }] : [])));
      for (const one of all) await add(one);
      await untilTried(lab, ...all.map(({ host }) => host));
      lab.gate.setFaults();
    },
  };
};

/** The time stands still meanwhile, so that none is tried a second time. */
export const untilTried = ({ facts }: DomainLab, ...hosts: readonly string[]): Promise<true> => {
  const areTried = async () => {
    const outcomes = await Promise.all(hosts.map((host) => facts.outcomes(host)));
    return outcomes.every(({ length }) => length > 0);
  };
  return until('all are tried', areTried);
};
