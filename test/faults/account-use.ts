import type { Ground } from './ground.ts';
import { accountLimit } from './load-record.ts';

export interface AccountUse {
  readonly requests: number;
  /** Since 1970, as its window is counted. */
  readonly day: number;
}

/** How many requests the account has used today, including this one. */
export const usedOf = async ({
  origins,
  key,
}: Pick<Ground, 'origins' | 'key'>): Promise<AccountUse> => {
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${origins()[0] ?? ''}/v1/pets?limit=1`, { headers });
  await answer.arrayBuffer();
  return {
    requests: accountLimit - Number(answer.headers.get('X-RateLimit-Remaining')),
    day: Math.floor(Date.now() / 86_400_000),
  };
};
