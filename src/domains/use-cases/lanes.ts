/**
 * Calls `next` side by side in so many lanes, in each until it returns false. One that fails ends only its own lane.
 * @throws what the first lane that failed threw, once all have ended
 */
export const inLanes = async (lanes: number, next: () => Promise<boolean>): Promise<void> => {
  const lane = async (): Promise<void> => {
    while (await next());
  };
  await allEnded(Array.from({ length: lanes }, lane));
};

/** Lets all of them end, whatever happens to one. @throws what the first one that failed threw */
export const allEnded = async <Result>(
  running: readonly Promise<Result>[],
): Promise<readonly Result[]> => {
  await Promise.allSettled(running);
  return Promise.all(running);
};
