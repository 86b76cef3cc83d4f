import type { Actor } from './acting.ts';

/** Something that happened to an account's things. Carries ids and primitives only: it outlives the code. */
export interface DomainEvent<Type extends string = string> {
  readonly type: Type;
  readonly accountId: string;
  readonly occurredAt: Date;
}

/** An event as it was stored. `id` is its identity: a subscriber that saw it before does nothing. */
export interface StoredEvent<Event extends DomainEvent = DomainEvent> {
  readonly id: string;
  /** Who did it; see `Acting`. */
  readonly actor: Actor;
  readonly event: Event;
}
