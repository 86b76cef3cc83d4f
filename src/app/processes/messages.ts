import pTimeout from 'p-timeout';
import type { MetricSnapshot } from '../../adapters/http/metrics/metrics.ts';

/** Why a process stops: the whole service ends, or another process has taken its place. */
export type Stopping = 'ending' | 'replaced';

/** Where the service is, by role. */
export type Places = Readonly<Record<string, string>>;

export type FromChild =
  | { readonly type: 'serving'; readonly places: Places }
  | { readonly type: 'metrics wanted'; readonly question: number }
  /** Without a question: its last one before it ends. */
  | {
      readonly type: 'snapshot';
      readonly question?: number;
      readonly snapshot: MetricSnapshot;
    };

export type FromParent =
  | { readonly type: 'introduce' }
  | { readonly type: 'stop'; readonly why: Stopping }
  | { readonly type: 'snapshot wanted'; readonly question: number }
  | {
      readonly type: 'metrics';
      readonly question: number;
      readonly snapshots: readonly MetricSnapshot[];
    };

/** Questions to another process, which answers by messages, in any order or never. */
export class Questions<Answer> {
  readonly #patienceMs: number;
  readonly #open = new Map<number, (answer: Answer) => void>();
  #asked = 0;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** @returns undefined when there is no answer in time */
  async ask(send: (question: number) => void): Promise<Answer | undefined> {
    const question = this.#asked++;
    const answer = new Promise<Answer>((resolve) => this.#open.set(question, resolve));
    send(question);
    const fallback = () => undefined;
    return pTimeout(answer, { milliseconds: this.#patienceMs, fallback }).finally(() => {
      this.#open.delete(question);
    });
  }

  answered(question: number, answer: Answer): void {
    this.#open.get(question)?.(answer);
  }
}
