import type PQueue from 'p-queue';
import type { DnsAnswer, DnsFailure } from '../../domains/domain/dns/facts.ts';

/** Asks one question once, until the signal aborts. */
type Ask<Answer> = (signal: AbortSignal) => Promise<Answer>;

export interface Patience {
  readonly perTryMs: number;
  readonly tries: number;
  /** After it aborts, nothing is asked or awaited. */
  readonly deadline: AbortSignal;
  /** The queue of questions to the same resolver; waiting in it does not count towards a try. */
  readonly turns: PQueue;
}

/** Retries failures, except unusable answers, which would come again. Never rejects. */
export const tryAgain = async <Item>(
  ask: Ask<DnsAnswer<Item>>,
  patience: Patience,
): Promise<DnsAnswer<Item>> => {
  let answer: DnsAnswer<Item> = timedOut;
  for (let left = patience.tries; left > 0 && !patience.deadline.aborted; left--) {
    answer = await tryOnce(ask, patience).catch(() => timedOut);
    if (answer.kind !== 'failed' || cameAnyway.includes(answer.reason)) break;
  }
  return answer;
};

/** @throws whatever `ask` throws, and when the time is over */
export const tryOnce = <Answer>(
  ask: Ask<Answer>,
  { perTryMs, deadline, turns }: Omit<Patience, 'tries'>,
): Promise<Answer> =>
  turns.add(({ signal = deadline }) => ask(signal), { signal: deadline, timeout: perTryMs });

/** The answer is there. */
const cameAnyway: readonly DnsFailure[] = ['malformed', 'too_large'];

const timedOut = { kind: 'failed', reason: 'timeout' } as const;
