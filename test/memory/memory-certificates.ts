import type { Certificate, Validity } from '../../src/domains/domain/certificates/certificate.ts';
import { Certificates } from '../../src/domains/certificate-ports.ts';
import type { MemoryCertificateOrders } from './memory-certificate-orders.ts';
import type { MemoryEdgeRecords } from './memory-edge-records.ts';

export class MemoryCertificates extends Certificates {
  readonly #edgeRecords: MemoryEdgeRecords;
  readonly #orders: MemoryCertificateOrders;

  constructor(edgeRecords: MemoryEdgeRecords, orders: MemoryCertificateOrders) {
    super();
    this.#edgeRecords = edgeRecords;
    this.#orders = orders;
  }

  override save(certificate: Certificate, endsOrder?: string): Promise<void> {
    if (endsOrder !== undefined) this.#orders.forgetOrder(endsOrder);
    this.#edgeRecords.setCertificate(certificate);
    return Promise.resolve();
  }

  override find(host: string): Promise<{ readonly chain: string } | undefined> {
    const found = this.#edgeRecords.certificates.find((one) => one.host === host);
    return Promise.resolve(found && { chain: found.chain });
  }

  override validities(): Promise<ReadonlyMap<string, Validity>> {
    const all = this.#edgeRecords.certificates;
    return Promise.resolve(
      new Map(all.map(({ host, notBefore, notAfter }) => [host, { notBefore, notAfter }])),
    );
  }
}
