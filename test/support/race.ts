/** The code of the error, or the whole error if it has none, so that a failing test shows it. */
export const codeOf = (error: unknown): string =>
  String((error as { code?: unknown } | null)?.code ?? error);

/** Starts all calls in one turn. @returns the results of the winners and the error codes of the losers */
export const race = async <T>(
  count: number,
  rival: (number: number) => Promise<T>,
): Promise<{ readonly won: readonly T[]; readonly lost: readonly string[] }> => {
  const rivals = Array.from({ length: count }, (_, number) => rival(number));
  const outcomes = await Promise.allSettled(rivals);
  return {
    won: outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    lost: outcomes.flatMap((one) => (one.status === 'rejected' ? [codeOf(one.reason)] : [])),
  };
};
