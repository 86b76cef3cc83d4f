import type { DomainEvent } from './domain-event.ts';

/** What a command decided: the next state and what happened. Both are stored together or not at all. */
export interface Decision<State, Event extends DomainEvent> {
  readonly state: State;
  readonly events: readonly Event[];
}
