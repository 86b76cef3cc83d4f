import { setImmediate as nextTurn } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import type { Logger } from 'pino';
import { Bell, CoalescedRuns } from '../../kernel/signals.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Claimed, Most, Queue } from '../../kernel/queue.ts';
import type { Share } from './shares.ts';

/** Items that begin between two turns of the event loop. */
const slice = 10;
const prolongedPerLease = 3;
/** After this time, running work is aborted and retried. */
const usualGraceMs = 5000;

export interface QueueKind<Item extends Claimed, Wanted = Most> {
  readonly what: string;
  readonly queue: Queue<Item, Wanted>;
  readonly share: Share<Item, Wanted>;
  /** Must be longer than the work, unless leases are renewed. */
  readonly leaseMs: number;
  readonly longest?: { readonly ms: number; readonly nameOf: (item: Item) => string };
  /** Stores finished items together. */
  readonly isInBatches?: true;
  /** Calls `begin` when it is the item's turn. Items that have not begun when the worker stops are released. */
  readonly inTurn?: (item: Item, begin: () => Promise<void>) => Promise<void>;
  readonly work: (item: Item, signal: AbortSignal) => Promise<void>;
  /** Should store when the item is due again. Without that, the item is due when its lease ends. */
  readonly afterFailure: (item: Item, error: unknown) => Promise<void>;
}

interface Ports {
  readonly clock: Clock;
  readonly log: Logger;
  readonly news?: Bell;
  readonly graceMs?: number | undefined;
}

/** Works on each item at least once. Items without room stay in the database. */
export class QueueWorker<Item extends Claimed, Wanted = Most> {
  readonly news: Bell;
  readonly #kind: QueueKind<Item, Wanted>;
  readonly #ports: Ports;
  readonly #turns = new CoalescedRuns(() => this.#turn());
  readonly #held = new Map<string, Item>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #late = new AbortController();
  readonly #done: Claimed[] = [];
  #marking: Promise<void> | undefined;
  #prolonging: NodeJS.Timeout | undefined;
  #mayBeMore = false;

  constructor(kind: QueueKind<Item, Wanted>, ports: Ports) {
    this.#kind = kind;
    this.#ports = ports;
    this.news = ports.news ?? new Bell();
  }

  /** @returns when the next item is due @throws Unavailable */
  run(): Promise<Date | undefined> {
    return this.#turns.run();
  }

  async stop(): Promise<void> {
    await this.#turns.stop();
    const late = setTimeout(() => {
      this.#late.abort();
    }, this.#ports.graceMs ?? usualGraceMs);
    await Promise.all(this.#underWay);
    clearTimeout(late);
  }

  async #turn(): Promise<Date | undefined> {
    const { queue, isInBatches } = this.#kind;
    const dueAt = await queue.nextDueAt();
    if (!dueAt || dueAt > this.#ports.clock.now()) {
      this.#mayBeMore = false;
      return dueAt;
    }
    const begun = await this.#claimInLanes();
    if (isInBatches) {
      if (this.#mayBeMore) this.#turns.again();
      const failed = (await Promise.allSettled(begun)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    }
    return queue.nextDueAt();
  }

  async #claimInLanes(): Promise<readonly Promise<void>[]> {
    this.#mayBeMore = false;
    const begun: Promise<void>[] = [];
    for (const lane of this.#kind.share.lanes) begun.push(...(await this.#claim(lane)));
    return begun;
  }

  async #claim(lane: string): Promise<readonly Promise<void>[]> {
    const { queue, share, leaseMs } = this.#kind;
    const room = share.room(lane);
    if (!room) {
      this.#mayBeMore = true;
      return [];
    }
    const items = await queue.claim(this.#ports.clock.now(), this.#in(leaseMs), room.wanted);
    this.#mayBeMore ||= room.isMoreThan(items);
    const begun: Promise<void>[] = [];
    for (const [n, item] of items.entries()) {
      if (n > 0 && n % slice === 0) await nextTurn();
      begun.push(this.#begin(item, lane));
    }
    return begun;
  }

  /** Begins the item. If its lease ended early after a clock jump, the work continues under the new claim. */
  #begin(item: Item, lane: string): Promise<void> {
    const begun = this.#held.get(item.id);
    if (begun) {
      begun.claim = item.claim;
      return Promise.resolve();
    }
    this.#hold(item);
    const { share, what, isInBatches, inTurn = (_item, begin) => begin() } = this.#kind;
    share.begin(item, lane);
    const yielding = this.#yieldLater(item);
    const work = inTurn(item, () => this.#workOn(item)).finally(() => {
      clearTimeout(yielding);
      this.#letGo(item);
      share.end(item);
    });
    const ended = work
      .catch((err: unknown) => {
        if (!isInBatches) this.#warn(err, `could not store the end of work on ${what}`, item);
      })
      .then(() => {
        this.#underWay.delete(ended);
        if (isInBatches) return;
        if (share.isRoomy) this.#lookForMore();
        this.news.ring('soon');
      });
    this.#underWay.add(ended);
    return work;
  }

  async #workOn(item: Item): Promise<void> {
    const { work, longest, inTurn, afterFailure } = this.#kind;
    if (inTurn && this.#turns.isStopped) return this.#finish(item);
    try {
      const working = work(item, this.#late.signal);
      await (longest ? inTime(working, longest.ms, longest.nameOf(item)) : working);
    } catch (error) {
      return afterFailure(item, error);
    }
    return this.#finish(item);
  }

  async #finish(item: Item): Promise<void> {
    if (!this.#kind.queue.done) return;
    this.#done.push(item);
    await (this.#marking ??= this.#markDone());
  }

  async #markDone(): Promise<void> {
    await nextTurn();
    this.#marking = undefined;
    await this.#kind.queue.done?.(this.#done.splice(0));
  }

  #yieldLater(item: Item): NodeJS.Timeout | undefined {
    const { yields } = this.#kind.share;
    return (
      yields &&
      setTimeout(() => {
        if (yields.give(item)) this.#lookForMore();
      }, yields.afterMs)
    );
  }

  #lookForMore(): void {
    if (!this.#mayBeMore) return;
    this.run().catch((err: unknown) => {
      this.#warn(err, `search for ${this.#kind.what} failed, will be retried`);
    });
  }

  #hold(item: Item): void {
    this.#held.set(item.id, item);
    const { queue, leaseMs, what } = this.#kind;
    if (!queue.prolong) return;
    this.#prolonging ??= setInterval(() => {
      queue.prolong?.([...this.#held.values()], this.#in(leaseMs)).catch((err: unknown) => {
        this.#warn(err, `leases of ${what} not renewed, other workers may take them over`);
      });
    }, leaseMs / prolongedPerLease).unref();
  }

  #letGo({ id }: Item): void {
    this.#held.delete(id);
    if (this.#held.size > 0) return;
    clearInterval(this.#prolonging);
    this.#prolonging = undefined;
  }

  #in(milliseconds: number): Date {
    return new Date(this.#ports.clock.now().getTime() + milliseconds);
  }

  #warn(err: unknown, text: string, item?: Item): void {
    this.#ports.log.warn({ err, ...(item && { id: item.id }) }, text);
  }
}

const inTime = (work: Promise<void>, milliseconds: number, name: string): Promise<void> =>
  pTimeout(work, { milliseconds, message: `${name} took longer than ${String(milliseconds)} ms` });
