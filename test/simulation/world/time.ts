import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { chanceOf, type Chance } from './chance.ts';
import { realTurn as nextTurn } from './machine.ts';

/** A simulated process. While there is none, the world outside acts. */
export interface Actor {
  readonly name: string;
  /** A dead process does nothing more, and nothing that it waits for ever comes. */
  isAlive: boolean;
  /** How far the process's clock is ahead of the true time, in milliseconds. */
  clockAheadMs: number;
  /** The process does nothing until this true time in milliseconds, like a virtual machine that is moved. */
  stalledUntil?: number;
  /**
   * The number of the process's connections in a transaction. A stall starts after them, because others would wait for
   * their locks.
   */
  transactions?: number;
}

/** When a stall ends; 0 without one. */
const stallOf = ({ stalledUntil = 0, transactions = 0 }: Partial<Actor> = {}): number =>
  transactions > 0 ? 0 : stalledUntil;

/** Thrown at a dead process that still tries something. Nobody sees it. */
export class Dead extends Error {
  override readonly name = 'Dead';
}

interface Task {
  at: number;
  readonly order: number;
  readonly actor: Actor | undefined;
  run: (() => void) | undefined;
}

interface Work {
  /** Undefined until the machine has finished the work. */
  settle: (() => void) | undefined;
}

const traceChunk = 65_536;

/** The longest turn of the event loop, in milliseconds. Others run meanwhile. */
const longestTurnMs = 3;

/**
 * The only queue of waiting tasks, in virtual time. A task runs to its next wait before the next task
 * begins. Work of the real machine, such as files and cryptography, ends while virtual time stands still,
 * one piece after the other.
 */
export class Time {
  readonly #tasks: Task[] = [];
  readonly #works: Work[] = [];
  readonly #actors = new AsyncLocalStorage<Actor | undefined>();
  readonly #lastTurnOf = new Map<Actor | undefined, number>();
  readonly #chance: Chance;
  readonly #isOrderly: boolean;
  readonly #trace = createHash('sha256');
  #lines = '';
  #now: number;
  #order = 0;
  #steps = 0;

  /** @param isOrderly turns of event loops take no time and come in one order */
  constructor(start: number, seed: string, isOrderly = false) {
    this.#now = start;
    this.#chance = chanceOf(`${seed}/turns`);
    this.#isOrderly = isOrderly;
  }

  /** The true time in epoch milliseconds, with a fraction. */
  get now(): number {
    return this.#now;
  }

  get steps(): number {
    return this.#steps;
  }

  /** The acting process; undefined for the world outside. */
  get actor(): Actor | undefined {
    return this.#actors.getStore();
  }

  /** The time on the clock of the acting process. */
  get shown(): number {
    return Math.floor(this.#now + (this.actor?.clockAheadMs ?? 0));
  }

  /** The hash of every step until now, with its time, actor and number. Nothing may run after it. */
  traceHash(): string {
    return this.#trace.update(this.#lines).digest('hex');
  }

  as<T>(actor: Actor | undefined, work: () => T): T {
    return this.#actors.run(actor, work);
  }

  /** Runs `run` later as the same actor, unless that actor has died. @returns a function that cancels it */
  after(ms: number, run: () => void): () => void {
    const wait = Number.isFinite(ms) ? Math.max(0, ms) : 0;
    return this.#plan(this.#now + wait, run);
  }

  /** Runs `run` as an actor, now or when its stall ends. */
  whenAwake(actor: Actor | undefined, run: () => void): void {
    const stalledMs = stallOf(actor) - this.#now;
    this.as(actor, () => {
      if (stalledMs > 0) this.after(stalledMs, run);
      else run();
    });
  }

  /** Runs `run` at the end of a turn of the actor's event loop. */
  afterTurn(run: () => void): () => void {
    const { actor } = this;
    const took = this.#isOrderly ? 0 : this.#chance.next() * longestTurnMs;
    const at = Math.max(this.#now + took, this.#lastTurnOf.get(actor) ?? 0);
    this.#lastTurnOf.set(actor, at);
    return this.#plan(at, run);
  }

  /** Delivers outcomes of work of the real machine in the order in which the work began. */
  hand<T>(work: Promise<T>): Promise<T> {
    const { actor } = this;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const entry: Work = { settle: undefined };
    this.#works.push(entry);
    const settledBy = (settle: () => void): void => {
      entry.settle = () => {
        if (actor?.isAlive !== false) this.whenAwake(actor, settle);
      };
    };
    work.then(
      (value) => {
        settledBy(() => {
          resolve(value);
        });
      },
      (error: unknown) => {
        settledBy(() => {
          reject(error);
        });
      },
    );
    return promise;
  }

  /** Runs steps until `isOver`, which is called after each step, returns true. @throws what `isOver` throws */
  run(isOver: () => boolean): Promise<undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const turn = (): void => {
      try {
        if (this.#deliver()) nextTurn(turn);
        else if (isOver()) resolve(undefined);
        else {
          this.#step();
          nextTurn(turn);
        }
      } catch (error) {
        reject(error);
      }
    };
    nextTurn(turn);
    return promise;
  }

  /** Runs until `work`, which the caller has begun, has settled. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = work.finally(() => {
      isSettled = true;
    });
    settled.catch(() => undefined);
    await this.run(() => isSettled);
    return settled;
  }

  /** @returns whether the machine is still working, or has just delivered something */
  #deliver(): boolean {
    const [first] = this.#works;
    if (!first) return false;
    if (first.settle) {
      this.#works.shift();
      first.settle();
    }
    return true;
  }

  #step(): void {
    const task = pop(this.#tasks);
    if (!task) throw new Error('nothing is left to happen');
    if (!task.run || task.actor?.isAlive === false) return;
    const stalledUntil = stallOf(task.actor);
    if (task.at < stalledUntil) {
      task.at = stalledUntil;
      push(this.#tasks, task);
      return;
    }
    this.#now = Math.max(this.#now, task.at);
    this.#steps += 1;
    this.#note(task);
    try {
      this.#actors.run(task.actor, task.run);
    } catch (error) {
      if (!(error instanceof Dead)) throw error;
    }
  }

  #note({ actor, order }: Task): void {
    this.#lines += `${String(this.#now)} ${actor?.name ?? ''} ${String(order)}\n`;
    if (this.#lines.length < traceChunk) return;
    this.#trace.update(this.#lines);
    this.#lines = '';
  }

  #plan(at: number, run: () => void): () => void {
    const task: Task = { at, order: this.#order++, actor: this.actor, run };
    push(this.#tasks, task);
    return () => {
      task.run = undefined;
    };
  }
}

const isBefore = (one: Task, other: Task): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/** Inserts into a binary heap. */
const push = (tasks: Task[], task: Task): void => {
  let at = tasks.push(task) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = tasks[above]!;
    if (!isBefore(task, parent)) break;
    tasks[at] = parent;
    at = above;
  }
  tasks[at] = task;
};

const pop = (tasks: Task[]): Task | undefined => {
  const [first] = tasks;
  const last = tasks.pop();
  if (!first || !last || tasks.length === 0) return first;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= tasks.length) break;
    if (below + 1 < tasks.length && isBefore(tasks[below + 1]!, tasks[below]!)) below += 1;
    const child = tasks[below]!;
    if (!isBefore(child, last)) break;
    tasks[at] = child;
    at = below;
  }
  tasks[at] = last;
  return first;
};
