import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Bell } from '../../kernel/bell.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Delivery, Outbox } from '../../kernel/outbox.ts';
import { Turns } from '../../kernel/turns.ts';
import { UnknownSubscriber, type EventBus } from './event-bus.ts';

export const mostAttempts = 10;
const batch = 100;
/** Begun in one turn of the event loop, so that requests do not wait for all of a batch. */
const slice = 10;
const leaseMs = 60_000;
const longestWaitMs = 2 * 60_000;
/** A release that knows the subscriber comes with the upgrade that is under way. */
const longestUpgradeMs = 24 * 60 * 60_000;

/** After the first failure 1 s, then 2, 4, 8 … at most 2 min. */
export const waitAfter = (attempts: number): number =>
  Math.min(1000 * 2 ** attempts, longestWaitMs);

/**
 * Delivers stored events to their subscribers, at least once each. A failing subscriber delays neither others nor later
 * events; a delivery that keeps failing is parked and reported.
 */
export class OutboxRelay {
  readonly #outbox: Outbox;
  readonly #bus: EventBus;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Rings when there may be something to deliver. */
  readonly news = new Bell();
  readonly #turns = new Turns(() => this.#deliverDue());
  /** Delivered, but not marked yet. */
  readonly #delivered: string[] = [];
  #marking: Promise<void> | undefined;

  constructor(outbox: Outbox, bus: EventBus, clock: Clock, log: Logger) {
    this.#outbox = outbox;
    this.#bus = bus;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Delivers all that is due. A call during a run causes another run.
   * @returns when the next delivery in the store is due
   */
  run(): Promise<Date | undefined> {
    return this.#turns.run();
  }

  /** Claims no more deliveries and finishes those under way. */
  stop(): Promise<void> {
    return this.#turns.stop();
  }

  async #deliverDue(): Promise<Date | undefined> {
    const now = this.#clock.now();
    const dueAt = await this.#outbox.nextDueAt();
    if (!dueAt || dueAt > now) return dueAt;
    const leaseUntil = new Date(now.getTime() + leaseMs);
    const deliveries = await this.#outbox.claim(now, leaseUntil, batch);
    if (deliveries.length === batch) this.#turns.again();
    const slices = [];
    for (let first = 0; first < deliveries.length; first += slice) {
      const begun = deliveries.slice(first, first + slice);
      slices.push(Promise.allSettled(begun.map((delivery) => this.#deliver(delivery))));
      await nextTurn();
    }
    const outcomes = (await Promise.all(slices)).flat();
    // A delivery that could not be marked stays claimed, and is repeated when its lease ends.
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
    return this.#outbox.nextDueAt();
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { id, subscriber, attempts, stored } = delivery;
    try {
      await this.#bus.hand(stored, subscriber);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const facts = { subscriber, event: stored.event.type, eventId: stored.id, err: error };
      if (attempts + 1 >= mostAttempts && !this.#isOfNewerRelease(error, stored)) {
        this.#log.error(facts, 'event parked: its subscriber keeps failing');
        await this.#outbox.park(delivery, problem);
      } else {
        this.#log.warn(
          { ...facts, attempts: attempts + 1 },
          'event not delivered, will be retried',
        );
        const next = this.#clock.now().getTime() + waitAfter(attempts);
        await this.#outbox.retry(delivery, new Date(next), problem);
      }
      return;
    }
    this.#delivered.push(id);
    await (this.#marking ??= this.#markDone());
  }

  #isOfNewerRelease(error: unknown, { event }: Delivery['stored']): boolean {
    const ageMs = this.#clock.now().getTime() - event.occurredAt.getTime();
    return error instanceof UnknownSubscriber && ageMs < longestUpgradeMs;
  }

  /** Marks together what is delivered in one turn. */
  async #markDone(): Promise<void> {
    await nextTurn();
    this.#marking = undefined;
    await this.#outbox.done(...this.#delivered.splice(0));
  }
}
