export type PetStatus = 'available' | 'pending' | 'sold';

export interface NewPet {
  readonly name: string;
  /** From 1 to 9223372036854775807. */
  readonly categoryId: bigint;
  /** `available` if omitted. */
  readonly status?: PetStatus;
}

export interface Pet {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

export interface Order {
  readonly id: bigint;
  readonly petId: bigint;
  readonly quantity: number;
  /** ISO 8601, in UTC. */
  readonly shipDate: string;
  readonly status: 'placed' | 'approved' | 'delivered';
  readonly complete: boolean;
}

export interface ListOptions {
  /** How many to fetch with one request: 1 to 100, by default 100. */
  readonly pageSize?: number;
}

export interface CallOptions {
  /** Ends the call, its waits and its retries. */
  readonly signal?: AbortSignal;
}
