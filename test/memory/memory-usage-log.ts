import {
  UsageLog,
  type CallsOfKey,
  type HourOfUsage,
  type UsageSum,
} from '../../src/access/usage-ports.ts';
import type { MemoryApiKeys } from './memory-accounts.ts';

const unitMs = { hour: 3_600_000, day: 86_400_000 } as const;

export class MemoryUsageLog extends UsageLog {
  readonly #apiKeys: MemoryApiKeys;
  readonly #hours = new Map<string, HourOfUsage>();

  /** @param apiKeys where the last use of a key is noted */
  constructor(apiKeys: MemoryApiKeys) {
    super();
    this.#apiKeys = apiKeys;
  }

  override add(hours: readonly HourOfUsage[], lastUsed: ReadonlyMap<string, Date>): Promise<void> {
    for (const hour of hours) {
      const requests = hour.requests + (this.#hours.get(place(hour))?.requests ?? 0);
      this.#hours.set(place(hour), structuredClone({ ...hour, requests }));
    }
    for (const [keyId, at] of lastUsed) this.#apiKeys.noteUse(keyId, at);
    return Promise.resolve();
  }

  override list(accountId: string, since: Date): Promise<readonly HourOfUsage[]> {
    const mine = [...this.#hours.values()].filter(
      (one) => one.accountId === accountId && one.hour >= since,
    );
    return Promise.resolve(structuredClone(mine.sort(byPlace)));
  }

  override async sum(
    accountId: string,
    since: Date,
    unit: 'hour' | 'day',
  ): Promise<readonly UsageSum[]> {
    const hours = await this.list(accountId, since);
    const sums = hours.map(({ hour, outcome, requests }) => {
      const time = hour.getTime();
      return { begin: new Date(time - (time % unitMs[unit])), outcome, requests };
    });
    const groups = Map.groupBy(sums, ({ begin, outcome }) => `${begin.toISOString()} ${outcome}`);
    return [...groups.entries()].sort(byName).flatMap(([, [first, ...rest]]) => {
      return first ? [{ ...first, requests: requestsOf([first, ...rest]) }] : [];
    });
  }

  override async callsTo(
    operations: readonly string[],
    accountId: string,
    since: Date,
  ): Promise<readonly CallsOfKey[]> {
    const hours = await this.list(accountId, since);
    const calls = hours.filter(({ operation }) => operations.includes(operation));
    const groups = Map.groupBy(calls, ({ keyId, operation }) => `${keyId} ${operation}`);
    const sums = [...groups.entries()].sort(byName).flatMap(([, group]) => {
      const last = group.at(-1);
      if (!last) return [];
      const { keyId, operation, hour: lastHour } = last;
      return [{ keyId, operation, requests: requestsOf(group), lastHour }];
    });
    return sums.sort((a, b) => b.lastHour.getTime() - a.lastHour.getTime());
  }

  sweep(before: Date): Promise<number> {
    const old = [...this.#hours].filter(([, { hour }]) => hour < before);
    for (const [key] of old) this.#hours.delete(key);
    return Promise.resolve(old.length);
  }
}

const place = ({ accountId, hour, keyId, operation, outcome }: HourOfUsage): string =>
  [hour.toISOString(), accountId, keyId, operation, outcome].join(' ');

const requestsOf = (group: readonly { readonly requests: number }[]): number =>
  group.reduce((sum, { requests }) => sum + requests, 0);

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;

const byPlace = (a: HourOfUsage, b: HourOfUsage): number => (place(a) < place(b) ? -1 : 1);
