import type { Answer } from './fault-words.ts';

/** A request under way. */
export interface Asked {
  readonly client: string;
  readonly origin: string;
  readonly at: number;
}

interface Seen {
  wellAt: number;
  /** The start of the last request with each answer. */
  readonly last: Map<Answer, number>;
}

export interface Observation {
  readonly client: string;
  readonly answer: Answer;
  readonly at: number;
  readonly tookMs: number;
}

const mostRemembered = 20_000;

const successes: ReadonlySet<Answer> = new Set(['200', '201', '303']);

/** The record of a load in compact form: single failures, and the number of successes. */
export class LoadRecord {
  readonly clients = new Map<string, Seen>();
  readonly answers = new Map<Answer, number>();
  readonly failures: Observation[] = [];
  readonly open = new Set<Asked>();
  acknowledged = 0;
  longestMs = 0;
  /** The longest time between two acknowledged writes. */
  longestPauseMs = 0;
  /** Answers that were counted against the account, by their headers. */
  counted = 0;
  #acknowledgedAt: number | undefined;
  readonly #used: { readonly at: number; readonly requests: number }[] = [];

  ask(client: string, url: string): Asked {
    if (!this.clients.has(client)) this.clients.set(client, { wellAt: -1, last: new Map() });
    const asked = { client, origin: new URL(url).origin, at: performance.now() };
    this.open.add(asked);
    return asked;
  }

  answer(asked: Asked, answer: Answer, headers?: Headers): void {
    this.open.delete(asked);
    const { client, at } = asked;
    const tookMs = performance.now() - at;
    this.longestMs = Math.max(this.longestMs, tookMs);
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
    if (headers?.get('X-RateLimit-Limit') === String(accountLimit)) this.#count(headers);
    const seen = this.clients.get(client);
    seen?.last.set(answer, at);
    if (!successes.has(answer)) this.failures.push({ client, answer, at, tookMs });
    else if (seen) seen.wellAt = Math.max(seen.wellAt, at);
  }

  /** How many requests of the account's day had been counted by then, as an answer said. */
  usedAt(moment: number): number {
    return this.#used.findLast(({ at }) => at <= moment)?.requests ?? 0;
  }

  #count(headers: Headers): void {
    this.counted += 1;
    const requests = accountLimit - Number(headers.get('X-RateLimit-Remaining'));
    this.#used.push({ at: performance.now(), requests });
    if (this.#used.length > mostRemembered) this.#used.splice(0, mostRemembered / 2);
  }

  acknowledge(): void {
    const now = performance.now();
    const since = this.#acknowledgedAt ?? now;
    this.longestPauseMs = Math.max(this.longestPauseMs, now - since);
    this.#acknowledgedAt = now;
    this.acknowledged += 1;
  }

  allWell(moment: number): boolean {
    return [...this.clients.values()].every(({ wellAt }) => wellAt > moment);
  }

  /** Whether each of these clients got one of the answers to a request that it sent after `moment`. */
  saw(answers: readonly Answer[], moment: number, which: (client: string) => boolean): boolean {
    return [...this.clients]
      .filter(([client]) => which(client))
      .every(([, { last }]) => answers.some((answer) => (last.get(answer) ?? -1) > moment));
  }

  openSince(moment: number): number {
    return [...this.open].filter(({ at }) => at < moment).length;
  }

  openAt(origin: string): number {
    return [...this.open].filter((one) => one.origin === origin && isWriter(one.client)).length;
  }
}

export const isWriter = (client: string): boolean => !client.startsWith('/');

/** Requests that the account of a load may make in a minute, and in a day. */
export const accountLimit = 100_000_000;

/** Marks a failure that should stand out in the table. */
export const answerOf = (status: number, headers: Headers, text: string): Answer => {
  if (status < 400) return String(status);
  const isJson = headers.get('Content-Type')?.startsWith('application/json') ?? false;
  const what = isJson ? ((JSON.parse(text) as { code?: string }).code ?? 'no code') : 'page';
  const isTold = status !== 503 || /^[1-9]\d*$/.test(headers.get('Retry-After') ?? '');
  return `${status} ${what}${isTold ? '' : ' without Retry-After'}`;
};
