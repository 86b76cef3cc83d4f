import { domainNotFound } from '../../src/domains/domain/domains-error.ts';
import type { CustomDomain } from '../../src/domains/domain/attachment/custom-domain.ts';
import { isAttached } from '../../src/domains/domain/attachment/serving.ts';
import type { DomainShare, ShareChange } from '../../src/domains/domain/attachment/share.ts';
import { DomainShares } from '../../src/domains/share-ports.ts';
import type { MemoryOutbox } from './memory-outbox.ts';

type Shared = Pick<CustomDomain, 'id' | 'accountId'>;
type Kept = DomainShare & { readonly secretHash: string };

export class MemoryDomainShares extends DomainShares {
  #kept: readonly Kept[] = [];
  readonly #outbox: MemoryOutbox;
  readonly #domainOf: (id: string) => CustomDomain | undefined;

  constructor(outbox: MemoryOutbox, domainOf: (id: string) => CustomDomain | undefined) {
    super();
    this.#outbox = outbox;
    this.#domainOf = domainOf;
  }

  override async change<Change extends ShareChange>(
    { id, accountId }: Shared,
    now: Date,
    decide: (domain: CustomDomain, open: readonly DomainShare[]) => Change,
  ): Promise<Change> {
    await Promise.resolve();
    const domain = this.#domainOf(id);
    if (domain?.accountId !== accountId) throw domainNotFound(id);
    const change = decide(domain, this.#open(domain, now));
    this.#outbox.append(change.events);
    const { added, ended } = change;
    const others = this.#kept.filter((one) => one.id !== ended);
    this.#kept = added
      ? [...others, structuredClone({ ...added.share, secretHash: added.secretHash })]
      : others;
    return change;
  }

  override list(domain: Shared, now: Date): Promise<readonly DomainShare[]> {
    return Promise.resolve(this.#open(domain, now));
  }

  override find(secretHash: string, now: Date): Promise<DomainShare | undefined> {
    const found = this.#kept.find((one) => one.secretHash === secretHash && one.endsAt > now);
    const domain = found && this.#domainOf(found.domainId);
    return Promise.resolve(found && domain && isAttached(domain) ? shareOf(found) : undefined);
  }

  /** For the other adapters of this folder. */
  all(): readonly DomainShare[] {
    return this.#kept;
  }

  /** For the other adapters of this folder. */
  forget(domainId: string): void {
    this.#kept = this.#kept.filter((one) => one.domainId !== domainId);
  }

  sweep(before: Date): Promise<number> {
    const kept = this.#kept.filter(({ endsAt }) => endsAt >= before);
    const swept = this.#kept.length - kept.length;
    this.#kept = kept;
    return Promise.resolve(swept);
  }

  #open({ id, accountId }: Shared, now: Date): readonly DomainShare[] {
    return this.#kept
      .filter((one) => one.domainId === id && one.accountId === accountId && one.endsAt > now)
      .map(shareOf)
      .toSorted(newestFirst);
  }
}

const shareOf = ({ secretHash: _, ...share }: Kept): DomainShare => structuredClone(share);

const newestFirst = (one: DomainShare, other: DomainShare): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1);
