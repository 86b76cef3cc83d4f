import type { LedgerChange } from '../../src/domains/domain/certificates/ca-ledger.ts';
import { attachmentIn, subjectsOf } from '../../src/domains/domain/attachment/order-subject.ts';
import {
  CertificateOrders,
  type Challenge,
  type KeptOrder,
  type PlacedOrder,
} from '../../src/domains/certificate-ports.ts';
import { MemoryDnsChallenges } from './memory-dns-challenges.ts';
import type { MemoryAuthorityLedger } from './memory-authority-ledger.ts';

interface Entry {
  readonly order: KeptOrder;
  readonly challenge: Challenge | undefined;
}

export class MemoryCertificateOrders extends CertificateOrders {
  readonly dnsChallenges = new MemoryDnsChallenges((subject) => this.#entries.has(subject));
  readonly #entries = new Map<string, Entry>();
  readonly #removed = new Set<string>();
  readonly #ledger: MemoryAuthorityLedger;

  constructor(ledger: MemoryAuthorityLedger) {
    super();
    this.#ledger = ledger;
  }

  override find(subject: string): Promise<KeptOrder | undefined> {
    return Promise.resolve(structuredClone(this.#entries.get(subject)?.order));
  }

  override begin(begun: Omit<KeptOrder, 'url'>): Promise<KeptOrder | undefined> {
    const { authority, subject, host, privateKey } = begun;
    if (this.#removed.has(attachmentIn(subject) ?? '')) return Promise.resolve(undefined);
    const order = { authority, subject, host, privateKey, url: undefined };
    if (!this.#entries.has(subject)) this.#entries.set(subject, { order, challenge: undefined });
    return Promise.resolve(structuredClone(this.#kept(subject).order));
  }

  override async placed(
    subject: string,
    url: string,
    ledger: LedgerChange = {},
  ): Promise<PlacedOrder> {
    await Promise.resolve();
    this.#ledger.write(ledger);
    const { order, challenge } = this.#kept(subject);
    const placed = { ...order, url: order.url ?? url };
    this.#entries.set(subject, { order: placed, challenge });
    return structuredClone(placed);
  }

  override async publish(subject: string, challenge: Challenge): Promise<void> {
    await Promise.resolve();
    const { order } = this.#kept(subject);
    this.#entries.set(subject, { order, challenge: structuredClone(challenge) });
  }

  override forget(subject: string, ledger: LedgerChange = {}): Promise<void> {
    this.forgetOrder(subject);
    this.#ledger.write(ledger);
    return Promise.resolve();
  }

  override answer(host: string, token: string): Promise<string | undefined> {
    const found = [...this.#entries.values()].find(
      ({ order, challenge }) => order.host === host && challenge?.token === token,
    );
    return Promise.resolve(found?.challenge?.keyAuthorization);
  }

  /** For the other adapters of this folder. */
  forgetOrder(subject: string): void {
    this.#entries.delete(subject);
    this.dnsChallenges.forget((one) => one === subject);
  }

  /** For the other adapters of this folder: a removed domain no longer needs any. */
  forgetOrdersOf(domainId: string): void {
    this.#removed.add(domainId);
    for (const subject of this.#entries.keys())
      if (subject.startsWith(subjectsOf(domainId))) this.forgetOrder(subject);
  }

  #kept(subject: string): Entry {
    const kept = this.#entries.get(subject);
    if (!kept) throw new Error(`the order of ${subject} was forgotten meanwhile`);
    return kept;
  }
}
