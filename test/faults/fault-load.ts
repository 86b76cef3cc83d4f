import { setTimeout as delay } from 'node:timers/promises';
import {
  PersistentWriter,
  type Acknowledged,
  type Send,
} from '../support/service/persistent-writer.ts';
import { within } from '../support/until.ts';
import { DashboardClerk, type ClerkOf } from './dashboard-clerk.ts';
import { answerOf, LoadRecord } from './load-record.ts';
import type { Answer } from './fault-words.ts';

export interface LoadTarget extends ClerkOf {
  readonly key: string;
  /** Processes of the service; clients may use any of them. */
  readonly origins: () => readonly string[];
}

export interface LoadOptions {
  /** The prefix of all names, so that each load finds its own. */
  readonly label: string;
  readonly keyedWriters: number;
  readonly paceMs: number;
  /** Deploys that had failed before it. */
  readonly failedBefore: number;
  /** Numbers in [0, 1) that choose the process for a request. */
  readonly random: () => number;
}

const pauseAfterFailureMs = 20;
/** Only against hanging, not a measurement: machines are busy. */
const longestWaitMs = 60_000;

/** Clients that never stop asking: they write with and without an idempotency key, read, sell, add domains and upload. */
export class FaultLoad {
  readonly record = new LoadRecord();
  readonly label: string;
  readonly clerk: DashboardClerk;
  /** The writes answered 201, by name. */
  readonly acknowledged = new Map<string, number>();
  /** Writes without a key that got 503 or no answer: they may be stored or not. */
  readonly inDoubt = new Set<string>();
  /** Under keys that were sent more than once. */
  readonly repeated: { readonly name: string; readonly id: number }[] = [];
  readonly failedBefore: number;
  readonly #target: LoadTarget;
  readonly #options: LoadOptions;
  #stopping = false;
  #loops: Promise<void>[] = [];

  constructor(target: LoadTarget, options: LoadOptions) {
    this.#target = target;
    this.label = options.label;
    this.failedBefore = options.failedBefore;
    this.#options = options;
    this.clerk = new DashboardClerk(target, options.label, this.record);
  }

  start(): void {
    const { label, keyedWriters } = this.#options;
    const keyed = Array.from({ length: keyedWriters }, (_, at) => `${label} keyed ${at}`);
    this.#loops = [
      ...keyed.map((name) => this.#writeKeyed(name)),
      this.#writePlain(`${label} plain`),
      this.#read('/v1/pets?limit=2'),
      this.#read('/v1/store/orders'),
      this.#act(),
    ];
  }

  /** Ends when no write under a key is in doubt any more. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#loops);
  }

  /** Whether each client had a success with a request that it made after `moment`. */
  allWell(moment: number): boolean {
    return this.record.clients.size === this.#loops.length && this.record.allWell(moment);
  }

  /** Returns when each client has had a success with a request from now on. */
  async isWell(): Promise<void> {
    const moment = performance.now();
    await within(60_000, 'all succeed', () => this.allWell(moment));
  }

  async #writeKeyed(client: string): Promise<void> {
    let attempts = 0;
    const send: Send = (url, init) => {
      attempts += 1;
      return this.#send(client, url, init);
    };
    const writer = new PersistentWriter(client, this.#target.key, send);
    while (!this.#stopping || writer.isInDoubt) {
      let isSent = false;
      await writer.write(this.#anyOrigin(), () => {
        const wasSent = isSent;
        isSent = true;
        return wasSent;
      });
      if (writer.isInDoubt) await delay(pauseAfterFailureMs);
      else {
        this.#keep(writer.acknowledged, attempts > 1);
        attempts = 0;
        await delay(this.#options.paceMs);
      }
    }
  }

  #keep(acknowledged: Acknowledged[], wasRepeated: boolean): void {
    for (const { name, id } of acknowledged.splice(0)) {
      this.acknowledged.set(name, id);
      this.record.acknowledge();
      if (wasRepeated) this.repeated.push({ name, id });
      if (this.clerk.animals.length < 3) this.clerk.animals.push(id);
    }
  }

  async #writePlain(client: string): Promise<void> {
    for (let count = 1; !this.#stopping; count++) {
      const name = `${client}-${count}`;
      const body = JSON.stringify({ name, categoryId: 1 });
      this.inDoubt.add(name);
      const url = `${this.#anyOrigin()}/v1/pets`;
      const headers = {
        Authorization: `Bearer ${this.#target.key}`,
        'Content-Type': 'application/json',
      };
      const answer = await this.#send(client, url, { method: 'POST', body, headers }).catch(
        () => undefined,
      );
      if (answer?.status === 201) {
        const { id } = (await answer.json()) as { id: number };
        this.#keep([{ name, id }], false);
        this.inDoubt.delete(name);
      }
      await delay(answer?.status === 201 ? this.#options.paceMs : pauseAfterFailureMs);
    }
  }

  async #read(path: string): Promise<void> {
    const headers = { Authorization: `Bearer ${this.#target.key}` };
    while (!this.#stopping) {
      const url = this.#anyOrigin() + path;
      const answer = await this.#send(path, url, { headers }).catch(() => undefined);
      await delay(answer?.ok ? this.#options.paceMs : pauseAfterFailureMs);
    }
  }

  async #act(): Promise<void> {
    while (!this.#stopping || this.clerk.isInDoubt) {
      const isDone = await this.clerk.act(this.#anyOrigin());
      // Forms have a limit of 300 a minute.
      await delay(isDone ? 250 : 250 + pauseAfterFailureMs);
    }
  }

  #anyOrigin(): string {
    const origins = this.#target.origins();
    return origins[Math.floor(this.#options.random() * origins.length)] ?? '';
  }

  /** @throws Error without an answer */
  async #send(client: string, url: string, init: RequestInit): Promise<Response> {
    const request = this.record.ask(client, url);
    try {
      const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(longestWaitMs) });
      const text = await answer.text();
      this.record.answer(request, answerOf(answer.status, answer.headers, text), answer.headers);
      return new Response(text, { status: answer.status });
    } catch (error) {
      this.record.answer(request, 'no answer' satisfies Answer);
      throw error;
    }
  }
}
