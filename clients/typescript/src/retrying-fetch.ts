export interface Patience {
  /** Most tries of a request. */
  readonly tries: number;
  /** In seconds. An answer that requests a longer wait is returned. */
  readonly longestWait: number;
  /** Milliseconds that one try may take. */
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  /** Resolves after the given milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
}

export const wait: Patience['wait'] = (ms, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });

/**
 * A `fetch` that retries safe requests (`GET`, and `POST` with an `Idempotency-Key`) after 429, 503, 409
 * `idempotency_in_progress`, a timeout or a broken connection. Waits for `Retry-After` if there is one, and
 * a random time that grows with each try.
 */
export const retryingFetch =
  (patience: Patience) =>
  async (url: string, init: RequestInit & { readonly headers: Headers }): Promise<Response> => {
    const isSafe = init.method !== 'POST' || init.headers.has('Idempotency-Key');
    const signal = init.signal ?? undefined;
    for (let tried = 1; ; tried++) {
      const isLast = tried >= patience.tries || !isSafe;
      const answer = await once(patience, url, init).catch((error: unknown) => {
        if (isLast || signal?.aborted) throw error;
      });
      const asked = Number(answer?.headers.get('Retry-After') ?? 0);
      const isFinal = answer && ![409, 429, 503].includes(answer.status);
      if (answer && (isFinal || isLast || !(asked <= patience.longestWait))) return answer;
      await answer?.body?.cancel();
      await patience.wait(
        asked * 1000 + Math.random() * Math.min(10_000, 250 * 2 ** tried),
        signal,
      );
    }
  };

const once = ({ fetch: send, timeoutMs }: Patience, url: string, init: RequestInit) => {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  return send(url, { ...init, signal });
};
