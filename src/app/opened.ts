import pTimeout from 'p-timeout';

/** Stops a process after the requests under way. @param isReplaced see `RunningRole`; load balancers need no notice */
export type Stop = (isReplaced?: AbortSignal) => Promise<void>;

type Close = (isReplaced?: AbortSignal) => unknown;

interface Part {
  readonly close: Close;
  readonly giveUp: () => unknown;
}

/** A start that fails says why after this time at the latest. */
const longestMs = 4_000;

/** What a process has opened so far. It ends here and nowhere else. */
export class Opened {
  readonly #all: Part[] = [];
  readonly #longestMs: number;

  constructor(longestGivingUpMs = longestMs) {
    this.#longestMs = longestGivingUpMs;
  }

  /** @param giveUp how it ends when the start fails */
  add(close: Close, giveUp: () => unknown = close): void {
    this.#all.unshift({ close, giveUp });
  }

  /** Closes all, the last one first, even if one cannot be closed. @throws the first error */
  readonly close: Stop = async (isReplaced) => {
    await this.#each(({ close }) => close(isReplaced));
  };

  /** The same after a start that failed. What takes too long, or fails as well, ends with the process. */
  async giveUp(): Promise<void> {
    const all = this.#each(({ giveUp }) => giveUp()).catch(() => undefined);
    await pTimeout(all, { milliseconds: this.#longestMs, fallback: () => undefined });
  }

  async #each(end: (one: Part) => unknown): Promise<void> {
    const errors: unknown[] = [];
    for (const one of this.#all) {
      try {
        await end(one);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
