import { earliest } from '../../kernel/clock.ts';
import type { EndingOperation } from '../domain/account.ts';
import type { HighUse } from '../domain/rate-quota.ts';
import { firstStepAt, removalStep, warnOfRemoval, warnOfUse } from '../domain/warnings.ts';
import type { AccessPorts } from '../ports.ts';

type Ports = Pick<AccessPorts, 'accounts' | 'usage' | 'endings' | 'clock'>;

/** An account has used most of its day. It may be reported again and again, by any process. */
export const warnOfHighUse =
  ({ accounts, clock }: Pick<Ports, 'accounts' | 'clock'>) =>
  async ({ accountId, ...use }: HighUse & { readonly accountId: string }): Promise<void> => {
    await accounts.change(accountId, (account) => warnOfUse(account, use, clock.now()));
  };

/** When there may be something to tell: in the past while an operation ends soon. */
export const removalsDueAt =
  ({ endings, clock }: Pick<Ports, 'endings' | 'clock'>) =>
  (): Promise<Date | undefined> => {
    const coming = endings.filter(({ removedAt }) => removedAt > clock.now());
    return Promise.resolve(earliest(coming.map(firstStepAt)));
  };

const recentMs = 30 * 24 * 60 * 60_000;

/** Tells accounts of operations that they called within the last 30 days and that will be removed soon. */
export const warnOfRemovals = (ports: Ports) => {
  const { accounts, usage, endings, clock } = ports;
  const stillCalls = async (accountId: string, { operation }: EndingOperation) => {
    const since = new Date(clock.now().getTime() - recentMs);
    return (await usage.callsTo([operation], accountId, since)).length > 0;
  };
  return async (isStopping: () => boolean): Promise<void> => {
    const near = endings.filter((one) => removalStep(one, clock.now()) !== undefined);
    if (near.length === 0) return;
    for (const account of await accounts.list()) {
      for (const ending of near) {
        if (isStopping()) return;
        const isNews = warnOfRemoval(account, ending, clock.now()).events.length > 0;
        if (!isNews || !(await stillCalls(account.id, ending))) continue;
        await accounts.change(account.id, (one) => warnOfRemoval(one, ending, clock.now()));
      }
    }
  };
};
