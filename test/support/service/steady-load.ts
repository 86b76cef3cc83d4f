import { setTimeout as delay } from 'node:timers/promises';
import { PersistentWriter, type Acknowledged, type Send } from './persistent-writer.ts';

export interface Observed {
  readonly what: string;
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | null;
  readonly tookMs: number;
  /** When it was answered, as `performance.now()`. */
  readonly at: number;
}

/** Only against hanging, not a measurement: machines are busy. */
const longestWaitMs = 60_000;

/** Readers and writers that never pause while requests succeed, and their answers. */
export class SteadyLoad {
  readonly observed: Observed[] = [];
  /** What was answered 201, with and without an idempotency key. */
  readonly acknowledged: Acknowledged[] = [];
  readonly #origin: string;
  readonly #key: string;
  readonly #label: string;
  readonly #open = new Set<{ readonly since: number }>();
  #stopping = false;
  #loops: Promise<void>[] = [];

  constructor(origin: string, key: string, label: string) {
    this.#origin = origin;
    this.#key = key;
    this.#label = label;
  }

  start(): void {
    const persistent = [1, 2, 3].map((at) => this.#persist(`${this.#label}-keyed-${at}`));
    const plain = [1, 2].map((at) => this.#write(`${this.#label}-plain-${at}`));
    this.#loops = [
      ...persistent,
      ...plain,
      this.#read('/v1/pets?limit=2'),
      this.#read('/v1/store/orders'),
    ];
  }

  /** Ends once every request is answered and none is in doubt. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
  }

  /** How many requests from before `moment` still have no answer. */
  openSince(moment: number): number {
    return [...this.#open].filter(({ since }) => since < moment).length;
  }

  /** Whether each loop had an answer with one of `statuses` to a request that it made after `moment`. */
  allSaw(statuses: readonly number[], moment: number): boolean {
    const seen = this.observed
      .filter(({ at, tookMs, status }) => at - tookMs > moment && statuses.includes(status))
      .map(({ what }) => what);
    return new Set(seen).size === this.#loops.length;
  }

  async #persist(what: string): Promise<void> {
    const send: Send = (url, init) => this.#send(what, url, init);
    const writer = new PersistentWriter(what, this.#key, send);
    await writer.write(this.#origin, () => this.#stopping);
    await writer.settle(this.#origin);
    this.acknowledged.push(...writer.acknowledged);
  }

  async #write(what: string): Promise<void> {
    for (let count = 1; !this.#stopping; count++) {
      const name = `${what}-${count}`;
      const body = JSON.stringify({ name, categoryId: 1 });
      const answer = await this.#send(what, `${this.#origin}/v1/pets`, { method: 'POST', body });
      const { id } = (await answer.json()) as { id: number };
      if (answer.status === 201) this.acknowledged.push({ name, id });
      else await delay(20);
    }
  }

  async #read(path: string): Promise<void> {
    while (!this.#stopping) {
      const { ok } = await this.#send(path, this.#origin + path);
      if (!ok) await delay(20);
    }
  }

  async #send(what: string, url: string, init: RequestInit = {}): Promise<Response> {
    const request = { since: performance.now() };
    this.#open.add(request);
    try {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${this.#key}`);
      headers.set('Content-Type', 'application/json');
      const signal = AbortSignal.timeout(longestWaitMs);
      const answer = await fetch(url, { ...init, headers, signal });
      const text = await answer.text();
      const at = performance.now();
      this.observed.push({
        what,
        status: answer.status,
        code: (JSON.parse(text) as { code?: string }).code,
        retryAfter: answer.headers.get('Retry-After'),
        tookMs: at - request.since,
        at,
      });
      return new Response(text, { status: answer.status });
    } finally {
      this.#open.delete(request);
    }
  }
}
