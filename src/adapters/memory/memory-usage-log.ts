import { UsageLog, type HourOfUsage } from '../../access/ports.ts';
import type { MemoryApiKeys } from './memory-accounts.ts';

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

  override sweep(before: Date): Promise<number> {
    const old = [...this.#hours].filter(([, { hour }]) => hour < before);
    for (const [key] of old) this.#hours.delete(key);
    return Promise.resolve(old.length);
  }
}

const place = ({ accountId, hour, keyId, operation, outcome }: HourOfUsage): string =>
  [hour.toISOString(), accountId, keyId, operation, outcome].join(' ');

const byPlace = (a: HourOfUsage, b: HourOfUsage): number => (place(a) < place(b) ? -1 : 1);
