import type { Records, Zone } from './zone.ts';
import type { DnsServer } from './server.ts';
import type { ShownRecord } from '../shop.ts';

/**
 * Records of customers, changed name by name like at a DNS provider. Every resolver sees a change at once.
 */
export class LabZone {
  readonly #dns: DnsServer;
  readonly #authorityView: number;
  readonly #always: Zone;
  readonly #names = new Map<string, Records>();
  readonly #lies = new Map<string, Records>();

  /**
   * @param authorityView index of the view that only the certificate authority queries
   * @param always records in addition to those of customers
   */
  constructor(dns: DnsServer, authorityView: number, always: Zone = {}) {
    this.#dns = dns;
    this.#authorityView = authorityView;
    this.#always = always;
  }

  /** The records of customers. */
  get records(): Zone {
    return Object.fromEntries(this.#names);
  }

  /** Replaces all records of customers. */
  replace(zone: Zone): void {
    this.#names.clear();
    for (const [name, records] of Object.entries(zone)) this.#names.set(name, records);
    this.#publish();
  }

  /** Replaces all records of the name. */
  set(name: string, records: Records): void {
    this.#names.set(name, records);
    this.#publish();
  }

  remove(name: string): void {
    this.#names.delete(name);
    this.#publish();
  }

  /** Creates records as they are displayed to an owner. */
  create(...records: readonly ShownRecord[]): void {
    for (const { fqdn, type, value } of records) {
      this.#names.set(fqdn, { ...this.#names.get(fqdn), [type]: [value] });
    }
    this.#publish();
  }

  /** Shows the authority different records; undefined ends this. */
  lie(name: string, records: Records | undefined): void {
    if (records) this.#lies.set(name, records);
    else this.#lies.delete(name);
    this.#publish();
  }

  #publish(): void {
    const zone: Zone = { ...this.records, ...this.#always };
    this.#dns.setZone(zone);
    this.#dns.views[this.#authorityView]?.setZone({ ...zone, ...Object.fromEntries(this.#lies) });
  }
}
