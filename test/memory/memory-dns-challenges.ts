import { DnsChallenges, type DnsChallenge } from '../../src/domains/certificate-ports.ts';

interface Kept extends DnsChallenge {
  readonly subject: string;
}

export class MemoryDnsChallenges extends DnsChallenges {
  #kept: readonly Kept[] = [];
  readonly #hasOrder: (subject: string) => boolean;

  constructor(hasOrder: (subject: string) => boolean) {
    super();
    this.#hasOrder = hasOrder;
  }

  override async publish(subject: string, challenge: DnsChallenge): Promise<void> {
    await Promise.resolve();
    if (!this.#hasOrder(subject))
      throw new Error(`the order of ${subject} was forgotten meanwhile`);
    const { label, value } = challenge;
    const isSame = (one: Kept) =>
      one.subject === subject && one.label === label && one.value === value;
    const others = this.#kept.filter((one) => !isSame(one));
    this.#kept = [...others, { ...structuredClone(challenge), subject }];
  }

  override valuesFor(
    labels: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const values = new Map<string, readonly string[]>();
    for (const { label, value, expiresAt } of this.#kept) {
      if (!labels.includes(label) || expiresAt <= now) continue;
      values.set(label, [...new Set(values.get(label)).add(value)].toSorted());
    }
    return Promise.resolve(values);
  }

  /** For the other adapters of this folder. */
  forget(isMeant: (subject: string) => boolean): void {
    this.#kept = this.#kept.filter(({ subject }) => !isMeant(subject));
  }

  sweep(before: Date): Promise<number> {
    const kept = this.#kept.filter(({ expiresAt }) => expiresAt >= before);
    const swept = this.#kept.length - kept.length;
    this.#kept = kept;
    return Promise.resolve(swept);
  }
}
