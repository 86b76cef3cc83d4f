import type { Records, Zone } from './zone.ts';
import type { DnsServer } from './server.ts';
import type { ShownRecord } from '../shop.ts';

/** Records of customers, changed name by name as their providers let them; everybody sees a change at once. */
export class LabZone {
  readonly #dns: DnsServer;
  readonly #authorityView: number;
  readonly #always: Zone;
  readonly #names = new Map<string, Records>();
  readonly #lies = new Map<string, Records>();

  /**
   * @param authorityView index of the view that only the certificate authority asks
   * @param always what is there besides the records of customers
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

  /** From now on these are all. */
  replace(zone: Zone): void {
    this.#names.clear();
    for (const [name, records] of Object.entries(zone)) this.#names.set(name, records);
    this.#publish();
  }

  /** Replaces all that the name had. */
  set(name: string, records: Records): void {
    this.#names.set(name, records);
    this.#publish();
  }

  remove(name: string): void {
    this.#names.delete(name);
    this.#publish();
  }

  /** Creates records as they are shown to an owner. */
  create(...records: readonly ShownRecord[]): void {
    for (const { fqdn, type, value } of records) {
      this.#names.set(fqdn, { ...this.#names.get(fqdn), [type]: [value] });
    }
    this.#publish();
  }

  /** Only the authority sees that; with undefined it sees again what all see. */
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
