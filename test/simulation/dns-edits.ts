import { challengeNameOf, type DnsRecord } from '../../src/domains/domain/dns/records.ts';
import { baseOf } from '../../src/domains/domain/names/hostname.ts';
import { largestAnswer } from '../../src/domains/domain/dns/facts.ts';
import { accountAt } from './laws/past.ts';
import type { DnsZones } from './world/dns-zones.ts';
import { service } from './world/world.ts';

export const mistakes = [
  ...(['address', 'ipv6', 'target', 'bare', 'chain', 'loop'] as const),
  ...(['text', 'route', 'ownership', 'delegation', 'stray'] as const),
] as const;
/** Rare mistakes are planned separately. */
export const rareMistakes = ['proxy', 'crowd'] as const;
export type Mistake = (typeof mistakes | typeof rareMistakes)[number];

type Purpose = DnsRecord['purpose'];
type Published = Pick<DnsRecord, 'type' | 'fqdn' | 'value' | 'ttl'>;

const elsewhere = {
  ip: '198.51.100.1',
  ipv6: '2001:db8::1',
  host: 'shop.elsewhere.example',
  proxy: '104.16.0.1',
} as const;
/** In seconds. */
const usualTtl = 300;

export class DnsEdits {
  readonly #zones: DnsZones;

  constructor(zones: DnsZones) {
    this.#zones = zones;
  }

  /**
   * Publishes records, without an optional delegation that does not exist yet.
   * @param ttl in seconds; replaces the displayed value
   */
  publish(records: readonly DnsRecord[], ttl?: number): void {
    for (const { purpose, required, fqdn, ...record } of records) {
      if (purpose === 'delegation' && !required && !this.#leadsOn(fqdn)) continue;
      this.#set({ fqdn, ...record }, ttl);
    }
  }

  delegate(records: readonly DnsRecord[]): void {
    for (const record of records) if (record.purpose === 'delegation') this.#set(record);
  }

  unpublish(records: readonly DnsRecord[]): void {
    for (const { fqdn } of records) this.#clear(fqdn);
  }

  mistake(records: readonly DnsRecord[], mistake: Mistake): void {
    const zones = this.#zones;
    const [route] = records;
    if (!route) return;
    const host = route.fqdn;
    const lead = (target: string): void => {
      // An apex cannot have a CNAME, so its owner enters an address.
      this.#clear(host);
      if (route.type === 'ALIAS') zones.set(host, 'A', [elsewhere.ip], usualTtl);
      else zones.set(host, 'CNAME', [target], usualTtl);
    };
    switch (mistake) {
      case 'address':
        this.#clear(host);
        zones.set(host, 'A', [elsewhere.ip], usualTtl);
        return;
      case 'ipv6':
        this.#clear(host);
        zones.set(host, 'AAAA', [elsewhere.ipv6], usualTtl);
        if (route.type === 'ALIAS') zones.set(host, 'A', [service.address], usualTtl);
        return;
      case 'target':
        lead(elsewhere.host);
        return;
      case 'bare':
        lead(service.platformHost);
        return;
      case 'chain':
      case 'loop': {
        const other = `over.${baseOf(host)}`;
        const back = host.replace('*', 'any');
        this.#clear(other);
        zones.set(other, 'CNAME', [mistake === 'chain' ? route.value : back], usualTtl);
        lead(other);
        return;
      }
      case 'text':
        this.#ofPurpose(records, 'ownership', (fqdn) => {
          zones.set(fqdn, 'TXT', ['animal-store-verify=another'], usualTtl);
        });
        return;
      case 'stray':
        this.#ofPurpose(records, 'delegation', (fqdn) => {
          zones.set(fqdn, 'CNAME', [`another.${service.acmeDnsZone}`], usualTtl);
        });
        return;
      case 'proxy':
        this.#clear(host);
        zones.set(host, 'A', [elsewhere.proxy], usualTtl);
        return;
      case 'crowd': {
        const texts = Array.from({ length: largestAnswer.records + 1 }, (_, n) => `text ${n}`);
        zones.remove(challengeNameOf(host), 'CNAME');
        zones.set(challengeNameOf(host), 'TXT', texts, usualTtl);
        return;
      }
      case 'route':
      case 'ownership':
      case 'delegation':
        this.#ofPurpose(records, mistake, () => undefined);
    }
  }

  /** @param issuer an authority, optionally with a condition, such as `one/dns-01`; or `nobody` or `anybody` */
  allow(zone: string, issuer: string): void {
    this.#zones.remove(zone, 'CAA');
    if (issuer === 'anybody') return;
    const [name = '', condition] = issuer.split('/');
    const its = `${name}.example`;
    const value = issuer === 'nobody' ? ';' : `${its}${parameterFor(its, condition)}`;
    this.#zones.set(zone, 'CAA', [{ flags: 0, tag: 'issue', value }], usualTtl);
  }

  #set({ type, fqdn, value, ttl }: Published, otherTtl?: number): void {
    this.#clear(fqdn);
    if (type === 'ALIAS') this.#zones.set(fqdn, 'A', [service.address], otherTtl ?? ttl);
    else this.#zones.set(fqdn, type, [value], otherTtl ?? ttl);
  }

  #leadsOn(name: string): boolean {
    const found = this.#zones.find(name, 'CNAME');
    return !(found instanceof Promise) && found.kind === 'records';
  }

  #ofPurpose(records: readonly DnsRecord[], wanted: Purpose, edit: (fqdn: string) => void): void {
    for (const { purpose, fqdn } of records) {
      if (purpose !== wanted) continue;
      this.#clear(fqdn);
      edit(fqdn);
    }
  }

  /** Removes addresses, the alias and texts, but not CAA records. */
  #clear(name: string): void {
    for (const type of ['A', 'AAAA', 'CNAME', 'TXT'] as const) this.#zones.remove(name, type);
  }
}

/** RFC 8657. @param condition a validation method, or `ours` or `another` for the account that may order */
const parameterFor = (issuer: string, condition: string | undefined): string => {
  switch (condition) {
    case undefined:
      return '';
    case 'ours':
      return `; accounturi=${accountAt(issuer)}`;
    case 'another':
      return `; accounturi=${accountAt(issuer)}23`;
    default:
      return `; validationmethods=${condition}`;
  }
};
