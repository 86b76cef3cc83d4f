export const everyDatabase = ['sqlite', 'mariadb', 'galera'] as const;

/** `replicated`: a MariaDB server with a replica that can take its place. */
export const faultDatabases = [...everyDatabase, 'replicated'] as const;

export type FaultDatabase = (typeof faultDatabases)[number];

/** The parts of a ground besides its database. */
export type FaultNeed = 'redis' | 'fleet' | 'small disk' | 'balancer' | 'inspector' | 'fake clock';

/** Faults with equal needs share one. */
export interface GroundWish {
  /** Service processes at one database; 1 unless said otherwise. */
  readonly processes?: number;
  readonly needs?: FaultNeed;
}

/** An answer as the load reports it: `201`, `503 service_unavailable`, `no answer`. */
export type Answer = string;

export const unavailable: readonly Answer[] = ['503 service_unavailable', '503 page'];

export const inProgress: readonly Answer[] = ['409 idempotency_in_progress', '409 page'];
