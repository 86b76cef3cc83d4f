import pTimeout from 'p-timeout';
import type { StoredEvent } from '../../kernel/domain-event.ts';

/** Handles one event. The same event may be delivered again and must then change nothing. */
export type Subscriber = (stored: StoredEvent) => Promise<void>;

/** One of a newer release, most likely, whose process stored the delivery. */
export class UnknownSubscriber extends Error {}

/** Hands an event to one subscriber in this process. */
export class EventBus {
  readonly #subscribers: ReadonlyMap<string, Subscriber>;
  readonly #deadlineMs: number;

  constructor(subscribers: Readonly<Record<string, Subscriber>>, deadlineMs = 10_000) {
    this.#subscribers = new Map(Object.entries(subscribers));
    this.#deadlineMs = deadlineMs;
  }

  /** @throws what the subscriber throws; UnknownSubscriber; Error when it takes longer than the deadline */
  async hand(stored: StoredEvent, name: string): Promise<void> {
    const subscriber = this.#subscribers.get(name);
    if (!subscriber) throw new UnknownSubscriber(`no subscriber is called ${name}`);
    const message = `${name} took longer than ${String(this.#deadlineMs)} ms`;
    await pTimeout(subscriber(stored), { milliseconds: this.#deadlineMs, message });
  }
}
