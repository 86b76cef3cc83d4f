import { problemOf, Refused, refuse } from './authority-requests.ts';
import { dayMs, hourMs, minuteMs } from './durations.ts';
import { getDomain } from 'tldts';

export interface Limit {
  readonly name: string;
  readonly of: number;
  readonly perMs: number;
  /** The time to refill one; always `perMs` divided by `of`, as published. */
  readonly refillMs: number;
  readonly source: string;
}

const published = 'https://letsencrypt.org/docs/rate-limits/';

/** The limits that Let's Encrypt publishes. Each is a bucket that refills one by one. */
export const limits = {
  newOrders: {
    name: 'new orders per account',
    of: 300,
    perMs: 3 * hourMs,
    refillMs: 36_000,
    source: `${published}#new-orders-per-account`,
  },
  perDomain: {
    name: 'certificates per registered domain',
    of: 50,
    perMs: 7 * dayMs,
    refillMs: 201.6 * minuteMs,
    source: `${published}#new-certificates-per-registered-domain`,
  },
  perNames: {
    name: 'certificates per exact set of names',
    of: 5,
    perMs: 7 * dayMs,
    refillMs: 33.6 * hourMs,
    source: `${published}#new-certificates-per-exact-set-of-identifiers`,
  },
  failures: {
    name: 'failed validations per account and name',
    of: 5,
    perMs: hourMs,
    refillMs: 12 * minuteMs,
    source: `${published}#authorization-failures-per-identifier-per-account`,
  },
  /** When this bucket is empty, the name is paused until a person lifts the pause. */
  consecutiveFailures: {
    name: 'consecutive failed validations per account and name',
    of: 1152,
    perMs: 1152 * dayMs,
    refillMs: dayMs,
    source: `${published}#consecutive-authorization-failures-per-identifier-per-account`,
  },
} as const satisfies Record<string, Limit>;

/**
 * A certificate of the same names that is at most this far from an order makes it a renewal (Boulder, wfe2 NewOrder).
 */
export const renewalMs = 120 * dayMs;

export interface ProfileTerms {
  readonly lifetimeMs: number;
  readonly pendingMs: number;
  /** How long a valid authorization serves further orders. */
  readonly reuseMs: number;
  readonly orderMs: number;
  readonly mostNames: number;
}

export const shortTerms = {
  pendingMs: hourMs,
  reuseMs: 7 * hourMs,
  orderMs: 8 * hourMs,
  mostNames: 25,
};

/** https://letsencrypt.org/docs/profiles/ as of 8 September 2026. The first one is the default. */
export const publishedProfiles: Readonly<Record<string, ProfileTerms>> = {
  classic: {
    lifetimeMs: 90 * dayMs,
    pendingMs: 7 * dayMs,
    reuseMs: 30 * dayMs,
    orderMs: 7 * dayMs,
    mostNames: 100,
  },
  tlsserver: { lifetimeMs: 45 * dayMs, ...shortTerms },
  shortlived: { lifetimeMs: 160 * hourMs, ...shortTerms },
};

/**
 * After this time, CAA is checked again before issuing. Boulder's margin to the 8 hours of the Baseline Requirements.
 */
export const caaAgainMs = 7 * hourMs;

/** Certificates begin this much earlier, for slow clocks (Boulder, issuance). */
export const backdatedMs = hourMs;

/**
 * The usual renewal window (Boulder, core.RenewalInfoSimple).
 * @param notBefore milliseconds, as `notAfter`
 */
export const usualWindow = (notBefore: number, notAfter: number) => {
  const lifetimeMs = notAfter + 1000 - notBefore;
  const leftMs = lifetimeMs < 10 * dayMs ? lifetimeMs / 2 : lifetimeMs / 3;
  const marginMs = lifetimeMs / 100;
  return { start: notAfter - leftMs - marginMs, end: notAfter - leftMs + marginMs };
};

/** The renewal window after an incident (Boulder, core.RenewalInfoImmediate). */
export const immediateWindow = (now: number) => ({ start: now - hourMs, end: now - hourMs / 2 });

/** A time when the service caused a refusal, or more issuance than the authority allows. */
export interface Overrun {
  readonly at: number;
  readonly limit: string;
  readonly of: string;
}

export type Spending = readonly [limit: Limit, of: string];

/** Stores for each bucket the time when it is full again (generic cell rate algorithm). */
export class Buckets {
  readonly over: Overrun[] = [];
  readonly #fullAt = new Map<string, number>();
  /** Buckets that other clients also use, and until when. */
  readonly #sharedUntil = new Map<string, number>();

  /** @returns when the bucket is not empty; a time that is not in the future if it has one now */
  nextAt({ name, perMs, refillMs }: Limit, of: string, now: number): number {
    const fullAt = Math.max(now, this.#fullAt.get(`${name}/${of}`) ?? now);
    return fullAt + refillMs - perMs;
  }

  /** @returns whether the bucket had one */
  spend(limit: Limit, of: string, now: number): boolean {
    if (this.nextAt(limit, of, now) > now) return false;
    const key = `${limit.name}/${of}`;
    this.#fullAt.set(key, Math.max(now, this.#fullAt.get(key) ?? now) + limit.refillMs);
    return true;
  }

  /** @throws Refused for the first of these buckets that is empty */
  check(spendings: readonly Spending[], now: number): void {
    for (const [limit, of] of spendings) {
      const nextAt = this.nextAt(limit, of, now);
      if (nextAt <= now) continue;
      this.tellOver(limit, of, now);
      throw tooMany(limit, of, { now, nextAt });
    }
  }

  share({ name, perMs }: Limit, of: string, now: number): void {
    this.#sharedUntil.set(`${name}/${of}`, now + perMs);
  }

  tellOver({ name }: Limit, of: string, at: number): void {
    if ((this.#sharedUntil.get(`${name}/${of}`) ?? 0) > at) return;
    this.over.push({ at, limit: name, of });
  }

  refill({ name }: Limit, of: string): void {
    this.#fullAt.delete(`${name}/${of}`);
  }

  counts(now: number): ReadonlyMap<string, number> {
    const rows = Object.values(limits);
    return new Map(
      [...this.#fullAt].flatMap(([key, fullAt]) => {
        const limit = rows.find(({ name }) => key.startsWith(`${name}/`));
        const taken = limit ? Math.ceil((fullAt - now) / limit.refillMs) : 0;
        return taken > 0 ? [[key, taken] as const] : [];
      }),
    );
  }
}

const tooMany = (
  { name, of: most }: Limit,
  of: string,
  { now, nextAt }: { readonly now: number; readonly nextAt: number },
): Refused => {
  const seconds = Math.ceil((nextAt - now) / 1000);
  const at = new Date(now + seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const detail = `too many ${name} (${most}) for ${of}, retry after ${at} UTC: see https://letsencrypt.org/docs/rate-limits/`;
  return new Refused(problemOf('rateLimited', detail, 429), seconds);
};

export const baseOf = (name: string): string => name.replace(/^\*\./, '');

const domainOf = (name: string): string | null => getDomain(name, { allowPrivateDomains: true });

/** The registered domains: the public suffix and one more label. */
export const registeredDomains = (names: readonly string[]): readonly string[] => [
  ...new Set(names.map((name) => domainOf(baseOf(name)) ?? baseOf(name))),
];

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const mostLabels = 10;

/** Boulder, policy.WellFormedIdentifiers and ra.wildcardOverlap. @throws Refused */
export const checkNames = (names: readonly string[]): void => {
  for (const name of names) {
    const labels = baseOf(name).split('.');
    const isWell = labels.every((one) => label.test(one)) && labels.length <= mostLabels;
    if (!isWell || name.length > 253) refuse('malformed', `"${name}": Domain name is malformed`);
    if (domainOf(baseOf(name)) === null) {
      refuse('malformed', `"${name}": Domain name does not end with a valid public suffix (TLD)`);
    }
    const above = name.replace(/^[^.]+/, '*');
    if (above !== name && names.includes(above)) {
      refuse('malformed', `Domain name "${name}" is redundant with a wildcard domain`);
    }
  }
};
