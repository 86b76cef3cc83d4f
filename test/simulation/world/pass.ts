/** Lets time pass. @returns false, at once, when `cancelled` is aborted before */
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
