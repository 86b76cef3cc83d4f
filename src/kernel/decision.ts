import type { Actor } from './ports.ts';

/** What a command decided: the next state and what happened. Both are stored together or not at all. */
export interface Decision<State, Event extends DomainEvent> {
  readonly state: State;
  readonly events: readonly Event[];
}

/** A lifecycle as a table: from each state, the states it may go to. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** @returns why `thing` may not go from one state to the other, or undefined when it may */
export const refusedTransition = <State extends string>(
  table: Transitions<State>,
  thing: string,
  from: State,
  to: State,
): string | undefined => {
  const allowed = table[from];
  if (allowed.includes(to)) return undefined;
  const instead = allowed.length > 0 ? `it can become ${allowed.join(' or ')}` : 'that is final';
  if (from === to) return `${thing} is ${from} already; ${instead}.`;
  return `${thing} is ${from} and cannot become ${to}; ${instead}.`;
};

/**
 * Something for each field of an aggregate: optional fields too, and those of each state. A list, a row or a form to
 * `satisfies` it does not compile while it lacks a field; `Omit<EveryField<Pet>, 'status'>` leaves one out by name.
 */
export type EveryField<Fields, Something = unknown> = Readonly<
  Record<Fields extends unknown ? keyof Fields : never, Something>
>;

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

/** A business rule refuses and the caller can only give up. `message` says what to do instead. */
export class DomainError<Code extends string = string> extends Error {
  override readonly name = 'DomainError';
  readonly code: Code;
  /** The field that is wrong, where the caller gave several. */
  readonly field: string | undefined;

  constructor(code: Code, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
