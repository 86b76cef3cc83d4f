import type { Certificate, Validity } from '../../sites/domain/certificate.ts';
import { Certificates } from '../../sites/ports.ts';
import type { MemoryEdgeRecords } from './memory-edge-records.ts';

export class MemoryCertificates extends Certificates {
  readonly #edgeRecords: MemoryEdgeRecords;

  constructor(edgeRecords: MemoryEdgeRecords) {
    super();
    this.#edgeRecords = edgeRecords;
  }

  override save(certificate: Certificate): Promise<void> {
    this.#edgeRecords.setCertificate(certificate);
    return Promise.resolve();
  }

  override validities(): Promise<ReadonlyMap<string, Validity>> {
    const all = this.#edgeRecords.certificates;
    return Promise.resolve(
      new Map(all.map(({ host, notBefore, notAfter }) => [host, { notBefore, notAfter }])),
    );
  }
}
