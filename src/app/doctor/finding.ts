import pTimeout from 'p-timeout';

export interface Finding {
  readonly state: 'ok' | 'warning' | 'failed';
  readonly seen: string;
  readonly advice?: string;
}

export const ok = (seen: string): Finding => ({ state: 'ok', seen });

const found =
  (state: Finding['state']) =>
  (seen: string, advice: string): Finding => ({ state, seen, advice });
export const warning = found('warning');
export const failed = found('failed');

export type Look = (signal: AbortSignal) => Promise<readonly Finding[]>;

/** Runs one check. Never rejects, and returns at the deadline even if `look` has not ended. */
export const within = (deadlineMs: number, look: Look): Promise<readonly Finding[]> => {
  const end = new AbortController();
  return pTimeout(look(end.signal).catch(unforeseen), {
    milliseconds: deadlineMs,
    fallback: () => {
      end.abort();
      const seen = `No answer within ${String(deadlineMs / 1000)} s.`;
      return [failed(seen, 'Check the network route to it.')];
    },
  });
};

const unforeseen = (error: unknown): readonly Finding[] => [
  failed(
    `The check failed: ${error instanceof Error ? error.message : String(error)}.`,
    'Set LOG_LEVEL=debug and start the service: its log says more.',
  ),
];
