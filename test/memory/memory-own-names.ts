import type { CaUse } from '../../src/domains/domain/certificates/ca-budget.ts';
import type { Validity } from '../../src/domains/domain/certificates/certificate.ts';
import type { LedgerName } from '../../src/domains/domain/certificates/ca-ledger.ts';
import type { OwnName } from '../../src/domains/domain/own/own-name.ts';
import { ownSubject, type OwnChange } from '../../src/domains/domain/own/own-order.ts';
import { OwnNames } from '../../src/domains/own-ports.ts';
import type { MemoryAuthorityLedger } from './memory-authority-ledger.ts';
import type { MemoryCertificateOrders } from './memory-certificate-orders.ts';
import type { MemoryEdgeRecords } from './memory-edge-records.ts';

interface Around {
  readonly ledger: MemoryAuthorityLedger;
  readonly orders: MemoryCertificateOrders;
  readonly edgeRecords: MemoryEdgeRecords;
}

export class MemoryOwnNames extends OwnNames {
  readonly #names = new Map<string, OwnName>();
  readonly #around: Around;

  constructor(around: Around) {
    super();
    this.#around = around;
  }

  override all(): Promise<readonly OwnName[]> {
    return Promise.resolve(structuredClone([...this.#names.values()]));
  }

  override find(host: string): Promise<OwnName | undefined> {
    return Promise.resolve(structuredClone(this.#names.get(host)));
  }

  override async change<Change extends OwnChange>(
    host: string,
    decide: (name: OwnName | undefined) => Change,
  ): Promise<Change> {
    await Promise.resolve();
    const change = decide(structuredClone(this.#names.get(host)));
    const { ledger, orders, edgeRecords } = this.#around;
    this.#names.set(host, structuredClone(change.name));
    ledger.write(change.ledger ?? {});
    if (change.endsOrder !== undefined) orders.forgetOrder(change.endsOrder);
    if (change.certificate) edgeRecords.setCertificate(change.certificate);
    return change;
  }

  override changeCounted<Change extends OwnChange>(
    name: LedgerName,
    now: Date,
    decide: (name: OwnName | undefined, use: CaUse) => Change,
  ): Promise<Change> {
    const { ledger } = this.#around;
    return this.change(name.host, (current) => decide(current, ledger.useOf(name, now)));
  }

  override async forget(
    host: string,
    now: Date,
    isOver: (name: OwnName | undefined, validity: Validity | undefined) => boolean,
  ): Promise<boolean> {
    await Promise.resolve();
    const { orders, edgeRecords } = this.#around;
    const name = structuredClone(this.#names.get(host));
    const held = edgeRecords.certificates.find((one) => one.host === host);
    if (!isOver(name, held)) return false;
    if (name) orders.forgetOrder(ownSubject(name));
    this.#names.delete(host);
    edgeRecords.removeCertificate(host, now);
    return true;
  }
}
