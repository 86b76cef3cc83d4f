import {
  caWindows,
  type CaUse,
  type CaWindow,
  type Times,
} from '../../src/domains/domain/certificates/ca-budget.ts';
import type {
  LedgerChange,
  LedgerEntry,
  LedgerName,
} from '../../src/domains/domain/certificates/ca-ledger.ts';
import { AuthorityLedger } from '../../src/domains/certificate-ports.ts';

export class MemoryAuthorityLedger extends AuthorityLedger {
  #entries: readonly LedgerEntry[] = [];

  override use(name: LedgerName, now: Date): Promise<CaUse> {
    return Promise.resolve(this.useOf(name, now));
  }

  override orders(authority: string, now: Date): Promise<Times> {
    const nobody = { authority, accountId: '', host: '', registrableDomain: '' };
    return Promise.resolve(this.useOf(nobody, now).orders);
  }

  override settle(change: LedgerChange): Promise<void> {
    this.write(change);
    return Promise.resolve();
  }

  sweep(before: Date): Promise<number> {
    const kept = this.#entries.filter(({ occurredAt }) => occurredAt >= before);
    const swept = this.#entries.length - kept.length;
    this.#entries = kept;
    return Promise.resolve(swept);
  }

  // For the other adapters of this folder, in the same turn as the change it belongs to.

  write({ freed = [], entered = [] }: LedgerChange): void {
    const isFreed = (entry: LedgerEntry) =>
      freed.some(({ kind, orderKey }) => kind === entry.kind && orderKey === entry.orderKey);
    const kept = this.#entries.filter((entry) => !isFreed(entry));
    this.#entries = [...kept, ...structuredClone(entered)];
  }

  all(): readonly LedgerEntry[] {
    return structuredClone(this.#entries);
  }

  useOf({ authority, accountId, host, registrableDomain }: LedgerName, now: Date): CaUse {
    const everywhere = (window: CaWindow, counts: (entry: LedgerEntry) => boolean): Times => {
      const { lengthMs, most } = caWindows[window];
      return this.#entries
        .filter(counts)
        .filter((entry) => entry.occurredAt.getTime() > now.getTime() - lengthMs)
        .map(({ occurredAt }) => new Date(occurredAt))
        .sort((one, other) => other.getTime() - one.getTime())
        .slice(0, most);
    };
    const within = (window: CaWindow, counts: (entry: LedgerEntry) => boolean): Times =>
      everywhere(window, (one) => [authority, ''].includes(one.authority) && counts(one));
    const failed = (entry: LedgerEntry) => entry.kind === 'failure' && entry.host === host;
    const issued = ({ kind }: LedgerEntry) => kind === 'issued';
    return {
      automaticFailures: within('automaticFailures', (one) => failed(one) && !one.isManual),
      manualFailures: within('manualFailures', (one) => failed(one) && one.isManual),
      orders: within('orders', ({ kind }) => kind === 'order' || kind === 'renewal'),
      accountOrders: within(
        'accountOrders',
        (one) => one.kind === 'order' && one.accountId === accountId,
      ),
      registeredDomain: within(
        'registeredDomain',
        (one) =>
          ['issued', 'own'].includes(one.kind) && one.registrableDomain === registrableDomain,
      ),
      exactName: within('exactName', (one) => issued(one) && one.host === host),
      ownHosts: everywhere('ownHosts', ({ kind }) => kind === 'own'),
    };
  }
}
