import pTimeout from 'p-timeout';
import type { Log } from './log.ts';
import type { Stopping } from './processes/parent-link.ts';
import type { Config } from './settings/settings.ts';

/** Returns the shutdown deadlines. A replaced process may take longer, because nobody waits for it. */
export const stopDeadlines = ({
  drainSeconds,
  otelExporterOtlpEndpoint,
}: Config): Readonly<Record<Stopping, number>> => {
  const ending = drainSeconds * 1000 + 10_000;
  return {
    ending: otelExporterOtlpEndpoint === undefined ? ending : ending + lastSpansMs,
    replaced: 70_000,
  };
};

const lastSpansMs = 3_000;

interface Limits extends Log {
  readonly deadlineMs: number;
}

/** Exits with 0, or with 1 after an error or at the deadline. @returns a function that shortens the deadline */
export const stopAndExit = (
  stop: () => Promise<void>,
  { log, flush, deadlineMs }: Limits,
): ((ms: number) => void) => {
  const exit = (code: number) => {
    flush();
    process.exit(code);
  };
  const giveUpAfter = (ms: number): void => {
    setTimeout(() => {
      log.error('not finished in time, stopping anyway');
      exit(1);
    }, ms);
  };
  giveUpAfter(deadlineMs);
  stop().then(
    () => {
      log.info('stopped');
      exit(0);
    },
    (error: unknown) => {
      log.error({ err: error }, 'could not stop cleanly');
      exit(1);
    },
  );
  return giveUpAfter;
};

/** Stops gracefully on the first signal and exits with 0. A second signal exits at once. */
export const stopOnSignal = (
  stop: () => Promise<void>,
  limits: Limits & { readonly atOnce?: () => void },
): void => {
  let begun = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (begun) {
      limits.atOnce?.();
      limits.flush();
      process.exit(signal === 'SIGINT' ? 130 : 143);
    }
    begun = true;
    limits.log.info({ signal }, 'stopping: finishing requests in progress');
    stopAndExit(stop, limits);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
};

/** @param isReplaced see `RunningRole`; if set, load balancers need no notice */
export type Stop = (isReplaced?: AbortSignal) => Promise<void>;

type Close = (isReplaced?: AbortSignal) => unknown;

interface Part {
  readonly close: Close;
  readonly giveUp: () => unknown;
}

const longestMs = 4_000;

export class Opened {
  readonly #all: Part[] = [];
  readonly #longestMs: number;

  constructor(longestGivingUpMs = longestMs) {
    this.#longestMs = longestGivingUpMs;
  }

  add(close: Close, giveUp: () => unknown = close): void {
    this.#all.unshift({ close, giveUp });
  }

  /** Closes everything in reverse order, even after errors. @throws the first error */
  readonly close: Stop = async (isReplaced) => {
    await this.#each(({ close }) => close(isReplaced));
  };

  /** Closes everything after a failed start. The process then exits, even if parts fail or are slow. */
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
