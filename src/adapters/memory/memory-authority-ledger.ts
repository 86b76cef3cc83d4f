import {
  caBudgets,
  type BudgetName,
  type BudgetVerdict,
  type CaUse,
  type WindowUse,
} from '../../sites/domain/ca-budget.ts';
import { AuthorityLedger, type LedgerEntry } from '../../sites/domain-ports.ts';

type Name = Pick<LedgerEntry, 'host' | 'registrableDomain'>;

export class MemoryAuthorityLedger extends AuthorityLedger {
  #entries: readonly LedgerEntry[] = [];

  override use(name: Name, now: Date): Promise<CaUse> {
    return Promise.resolve(this.#useOf(name, now));
  }

  override async reserve(
    entry: LedgerEntry,
    decide: (use: CaUse) => BudgetVerdict,
  ): Promise<BudgetVerdict> {
    await Promise.resolve();
    const verdict = decide(this.#useOf(entry, entry.occurredAt));
    if (verdict.allowed) this.#enter(entry);
    return verdict;
  }

  override record(entry: LedgerEntry): Promise<void> {
    this.#enter(entry);
    return Promise.resolve();
  }

  override sweep(before: Date): Promise<number> {
    const kept = this.#entries.filter(({ occurredAt }) => occurredAt >= before);
    const swept = this.#entries.length - kept.length;
    this.#entries = kept;
    return Promise.resolve(swept);
  }

  #enter(entry: LedgerEntry): void {
    this.#entries = [...this.#entries, structuredClone(entry)];
  }

  #useOf({ host, registrableDomain }: Name, now: Date): CaUse {
    const within = (budget: BudgetName, counts: (entry: LedgerEntry) => boolean): WindowUse => {
      const since = now.getTime() - caBudgets[budget].windowMs;
      const times = this.#entries
        .filter((entry) => entry.occurredAt.getTime() > since && counts(entry))
        .map(({ occurredAt }) => occurredAt.getTime());
      const oldestAt = times.length > 0 ? new Date(Math.min(...times)) : undefined;
      return { used: times.length, oldestAt };
    };
    const failed = (entry: LedgerEntry) => entry.kind === 'failure' && entry.host === host;
    const issued = ({ kind }: LedgerEntry) => kind === 'issued';
    return {
      automaticFailures: within('automaticFailures', (one) => failed(one) && !one.isManual),
      manualFailures: within('manualFailures', (one) => failed(one) && one.isManual),
      orders: within('orders', ({ kind }) => kind === 'order'),
      registeredDomain: within(
        'registeredDomain',
        (one) => issued(one) && one.registrableDomain === registrableDomain,
      ),
      exactName: within('exactName', (one) => issued(one) && one.host === host),
    };
  }
}
