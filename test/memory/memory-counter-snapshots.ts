import { CounterSnapshots, type CounterSnapshot } from '../../src/access/quota-ports.ts';

export class MemoryCounterSnapshots extends CounterSnapshots {
  readonly #kept = new Map<string, { readonly data: string; readonly savedAt: number }>();

  override save(snapshots: readonly CounterSnapshot[], now: Date): Promise<void> {
    for (const { subject, data } of snapshots) {
      this.#kept.set(subject, { data, savedAt: now.getTime() });
    }
    return Promise.resolve();
  }

  override load(): Promise<readonly CounterSnapshot[]> {
    return Promise.resolve([...this.#kept].map(([subject, { data }]) => ({ subject, data })));
  }

  sweep(before: Date): Promise<number> {
    const old = [...this.#kept].filter(([, { savedAt }]) => savedAt < before.getTime());
    for (const [subject] of old) this.#kept.delete(subject);
    return Promise.resolve(old.length);
  }
}
