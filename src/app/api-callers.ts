import type { Accounts } from '../access/key-ports.ts';
import type { UsageLog } from '../access/usage-ports.ts';
import type { Clock } from '../kernel/clock.ts';
import { ApiCallers } from '../notifications/ports.ts';

const recentMs = 30 * 24 * 60 * 60_000;

interface Known {
  readonly accounts: Pick<Accounts, 'list'>;
  readonly usage: Pick<UsageLog, 'callsTo'>;
  readonly clock: Clock;
}

/** The bridge to accounts and their usage, which another context keeps. */
export class KnownApiCallers extends ApiCallers {
  readonly #known: Known;

  constructor(known: Known) {
    super();
    this.#known = known;
  }

  override async accounts(): Promise<readonly string[]> {
    return (await this.#known.accounts.list()).map(({ id }) => id);
  }

  override async stillCalls(accountId: string, operation: string): Promise<boolean> {
    const { usage, clock } = this.#known;
    const since = new Date(clock.now().getTime() - recentMs);
    return (await usage.callsTo([operation], accountId, since)).length > 0;
  }
}
