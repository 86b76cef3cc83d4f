/** Limits of an account's plan for projects, domains and files. */
export interface Allowance {
  /** Its name for people. */
  readonly plan: string;
  readonly projects: number;
  /** All kept deploys together, unpacked. */
  readonly storedBytes: number;
  readonly domains: number;
  /** Counts removed domains too, because each could have cost a certificate. */
  readonly domainsAddedPerHour: number;
  /** Whether a domain may be a wildcard, such as `*.shop.example.com`. */
  readonly hasWildcards: boolean;
}

export const gib = 1024 ** 3;

/** Enterprise: for accounts without custom limits. */
export const planAllowances = {
  free: {
    plan: 'Free',
    projects: 3,
    storedBytes: gib,
    domains: 0,
    domainsAddedPerHour: 0,
    hasWildcards: false,
  },
  pro: {
    plan: 'Pro',
    projects: 20,
    storedBytes: 10 * gib,
    domains: 5,
    domainsAddedPerHour: 20,
    hasWildcards: false,
  },
  business: {
    plan: 'Business',
    projects: 100,
    storedBytes: 100 * gib,
    domains: 25,
    domainsAddedPerHour: 60,
    hasWildcards: true,
  },
  enterprise: {
    plan: 'Enterprise',
    projects: 1000,
    storedBytes: 1000 * gib,
    domains: 1000,
    domainsAddedPerHour: 240,
    hasWildcards: true,
  },
} as const satisfies Readonly<Record<string, Allowance>>;
