export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Waits for this many milliseconds of virtual time. @returns false, at once, if `cancelled` is aborted before */
export const pass = (ms: number, cancelled?: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    if (cancelled?.aborted) {
      resolve(false);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      cancelled?.removeEventListener('abort', stop);
      resolve(true);
    }, ms);
    cancelled?.addEventListener('abort', stop, { once: true });
  });

/** @returns the result of `work`, or `otherwise` if it takes longer */
export const within = <T>(ms: number, work: Promise<T>, otherwise: T): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(resolve, ms, otherwise);
  });
  return Promise.race([work, late]).finally(() => {
    clearTimeout(timer);
  });
};
