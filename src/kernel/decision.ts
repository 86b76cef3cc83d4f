import type { Actor } from './ports.ts';

/** A command's result is the next state and its events. Both are stored together or not at all. */
export interface Decision<State, Event extends DomainEvent> {
  readonly state: State;
  readonly events: readonly Event[];
}

/** A lifecycle as a table lists the states that each state may change to. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

/** @returns why the transition is refused, or undefined if it is allowed */
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

/** Requires an entry for each field of an aggregate and its states. `Omit<EveryField<Pet>, 'status'>` excludes one. */
export type EveryField<Fields, Something = unknown> = Readonly<
  Record<Fields extends unknown ? keyof Fields : never, Something>
>;

/** Contains only ids and primitives, because events outlive the code. */
export interface DomainEvent<Type extends string = string> {
  readonly type: Type;
  readonly accountId: string;
  readonly occurredAt: Date;
}

/** A stored event. Subscribers ignore an `id` that they have handled before. */
export interface StoredEvent<Event extends DomainEvent = DomainEvent> {
  readonly id: string;
  readonly actor: Actor;
  readonly event: Event;
}

/** A business rule refuses, and the caller can only give up. `message` says what to do instead. */
export class DomainError<Code extends string = string> extends Error {
  override readonly name = 'DomainError';
  readonly code: Code;
  readonly field: string | undefined;

  constructor(code: Code, message: string, field?: string) {
    super(message);
    this.code = code;
    this.field = field;
  }
}
