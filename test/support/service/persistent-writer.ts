import { setTimeout as delay } from 'node:timers/promises';

export interface Acknowledged {
  readonly name: string;
  readonly id: number;
}

export type Send = (url: string, init: RequestInit) => Promise<Response>;

/** Pause after an answer other than 201. */
const pauseMs = 20;

interface Wish {
  readonly name: string;
  readonly idempotencyKey: string;
}

/** Adds animals one by one and retries each, under its idempotency key, until the answer is 201. */
export class PersistentWriter {
  readonly acknowledged: Acknowledged[] = [];
  /** Every received status in order; 0 for a missing answer. */
  readonly statuses: number[] = [];
  readonly #label: string;
  readonly #key: string;
  readonly #send: Send;
  #count = 0;
  #wish: Wish | undefined;

  constructor(label: string, key: string, send: Send = fetch) {
    this.#label = label;
    this.#key = key;
    this.#send = send;
  }

  /** Whether a request was sent and not acknowledged, so that it may be stored or not. */
  get isInDoubt(): boolean {
    return this.#wish !== undefined;
  }

  /** Continues until `stopped`, or until a request gets no answer because the service is dead. */
  async write(origin: string, stopped: () => boolean): Promise<void> {
    while (!stopped()) {
      this.#wish ??= this.#next();
      if (!(await this.#attempt(origin, this.#wish))) return;
      if (this.isInDoubt) await delay(pauseMs);
    }
  }

  /** Repeats the request in doubt until it is acknowledged. */
  async settle(origin: string): Promise<void> {
    while (this.#wish) {
      if (!(await this.#attempt(origin, this.#wish))) throw new Error('the service is dead');
      if (this.isInDoubt) await delay(pauseMs);
    }
  }

  #next(): Wish {
    this.#count += 1;
    const name = `${this.#label}-${this.#count}`;
    return { name, idempotencyKey: `key of ${name}` };
  }

  /** @returns false if there was no answer */
  async #attempt(origin: string, { name, idempotencyKey }: Wish): Promise<boolean> {
    const headers = {
      Authorization: `Bearer ${this.#key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    };
    const body = JSON.stringify({ name, categoryId: 1 });
    try {
      const answer = await this.#send(`${origin}/v1/pets`, { method: 'POST', headers, body });
      const { id } = (await answer.json()) as { id: number };
      this.statuses.push(answer.status);
      if (answer.status !== 201) return true;
      this.acknowledged.push({ name, id });
      this.#wish = undefined;
      return true;
    } catch {
      this.statuses.push(0);
      return false;
    }
  }
}
