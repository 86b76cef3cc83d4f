import type { ProcessName } from '../fleet.ts';
import { conditions, objectsOf, type Part } from '../weather.ts';
import type { DnsZones } from '../world/dns-zones.ts';
import { authorityNames, service, type AuthorityName } from '../world/world.ts';
import { baseOf, isWildcard } from '../../../src/domains/domain/names/hostname.ts';
import { parentOf, type RecordData, type RecordType } from '../world/dns-records.ts';

/** Since when something has been true; undefined while it is false. */
type Since = number | undefined;

interface Published {
  readonly forbiddenSince: Record<AuthorityName, Since>;
  readonly allowedSince: Record<AuthorityName, Since>;
  leadsHereSince: Since;
  delegation: Delegation;
}

/** The alias at the name of the challenge. */
interface Delegation {
  readonly to: string | undefined;
  readonly since: number;
}

interface Weather {
  readonly condition: string;
  readonly since: number;
}

const long = -Infinity;

export class Past {
  readonly #now: () => number;
  readonly #zones: DnsZones;
  readonly #weather = new Map<string, Weather>();
  readonly #hosts = new Map<string, Published>();
  readonly #upSince = new Map<ProcessName, number>();
  readonly #outSince = new Map<string, number>();
  readonly #backSince = new Map<string, number>();
  #edits = -1;

  constructor(now: () => number, zones: DnsZones) {
    this.#now = now;
    this.#zones = zones;
  }

  turn([part = '', object = '', condition = '']: readonly string[]): void {
    if (!(part in conditions)) return;
    const key = `${part} ${object}`;
    const before = this.#weather.get(key)?.condition ?? 'well';
    if (before !== condition) this.#weather.set(key, { condition, since: this.#now() });
  }

  clear(): void {
    for (const [part, objects] of Object.entries(objectsOf)) {
      for (const object of objects) this.turn([part, object, 'well']);
    }
  }

  wellSince(part: Part, object: string): Since {
    const weather = this.#weather.get(`${part} ${object}`);
    if (!weather) return long;
    return weather.condition === 'well' ? weather.since : undefined;
  }

  allWellSince(part: Part): Since {
    return together(...objectsOf[part].map((object) => this.wellSince(part, object)));
  }

  wasBad(part: Part, after: number): boolean {
    const since = this.allWellSince(part);
    return since === undefined || since > after;
  }

  started(process: ProcessName): void {
    this.#upSince.set(process, this.#now());
  }

  died(process: ProcessName): void {
    this.#upSince.delete(process);
  }

  upSince(process: ProcessName): Since {
    return this.#upSince.get(process);
  }

  /** @param out all projects that are deleted now, or whose account is */
  followProjects(out: readonly string[]): void {
    for (const id of this.#outSince.keys()) {
      if (out.includes(id)) continue;
      this.#outSince.delete(id);
      this.#backSince.set(id, this.#now());
    }
    for (const id of out) this.#outSince.set(id, this.outSince(id) ?? this.#now());
  }

  outSince(project: string): Since {
    return this.#outSince.get(project);
  }

  /** The time of the last restoration, or the beginning of time for a project that was never deleted. */
  inServiceSince(project: string): Since {
    return this.#outSince.has(project) ? undefined : (this.#backSince.get(project) ?? long);
  }

  /** Reads the zones again if somebody edited them or a host is new. */
  look(hosts: readonly string[]): void {
    if (this.#edits !== this.#zones.edits) {
      this.#edits = this.#zones.edits;
      for (const host of this.#hosts.keys()) this.#read(host);
    }
    for (const host of hosts) {
      if (!this.#hosts.has(host)) this.#read(host);
    }
  }

  forbiddenSince(authority: AuthorityName, host: string): Since {
    this.look([host]);
    return this.#hosts.get(host)?.forbiddenSince[authority];
  }

  allowedSince(authority: AuthorityName, host: string): Since {
    this.look([host]);
    return this.#hosts.get(host)?.allowedSince[authority];
  }

  leadsHereSince(host: string): Since {
    this.look([host]);
    return this.#hosts.get(host)?.leadsHereSince;
  }

  /** @param target to which the challenge is delegated */
  delegatedSince(host: string, target: string): Since {
    this.look([host]);
    const delegation = this.#hosts.get(host)?.delegation;
    return delegation?.to === target ? delegation.since : undefined;
  }

  #read(host: string): void {
    const now = this.#now();
    const to = aliasOf(this.#zones, `_acme-challenge.${baseOf(host)}`);
    const known = this.#hosts.get(host) ?? {
      forbiddenSince: { one: undefined, two: undefined },
      allowedSince: { one: undefined, two: undefined },
      leadsHereSince: undefined,
      delegation: { to, since: now },
    };
    for (const authority of authorityNames) {
      const verdict = caaSays(this.#zones, `${authority}.example`, host);
      const { forbiddenSince, allowedSince } = known;
      forbiddenSince[authority] =
        verdict === 'forbids' ? (forbiddenSince[authority] ?? now) : undefined;
      allowedSince[authority] = verdict === 'allows' ? (allowedSince[authority] ?? now) : undefined;
    }
    const isHere = leadsHere(this.#zones, service.address, host);
    known.leadsHereSince = isHere ? (known.leadsHereSince ?? now) : undefined;
    if (known.delegation.to !== to) known.delegation = { to, since: now };
    this.#hosts.set(host, known);
  }
}

export const together = (...all: readonly Since[]): Since =>
  all.reduce<Since>(
    (latest, one) =>
      latest === undefined || one === undefined ? undefined : Math.max(latest, one),
    long,
  );

// The rest of this file reads the zones directly, without resolvers.

const longestChain = 8;

/** @returns the records of a name, following aliases; none if the service's own name servers answer */
export const published = <Type extends RecordType>(
  zones: DnsZones,
  name: string,
  type: Type,
): readonly RecordData[Type][] => {
  let at = name;
  for (let hop = 0; hop < longestChain; hop++) {
    const found = zones.find(at, type);
    if (found instanceof Promise) return [];
    if (found.kind === 'records') return found.records;
    const [target] = found.kind === 'alias' ? found.cname.records : [];
    if (target === undefined) return [];
    at = target;
  }
  return [];
};

export const aliasOf = (zones: DnsZones, name: string): string | undefined => {
  const found = zones.find(name, 'CNAME');
  if (found instanceof Promise || found.kind !== 'records') return undefined;
  return found.records[0];
};

/** Whether an issuer may issue; `unclear` if it depends on the validation method. */
type CaaVerdict = 'allows' | 'forbids' | 'unclear';

/** The CAA verdict for an issuer (RFC 8659, section 3; RFC 8657). */
const caaSays = (zones: DnsZones, issuer: string, host: string): CaaVerdict => {
  for (let level = baseOf(host); level !== ''; level = parentOf(level)) {
    const records = published(zones, level, 'CAA');
    if (records.length === 0) continue;
    const ofTag = (wanted: string) => records.filter(({ tag }) => tag === wanted);
    const wild = isWildcard(host) ? ofTag('issuewild') : [];
    const relevant = wild.length > 0 ? wild : ofTag('issue');
    if (relevant.length === 0) return 'allows';
    const verdicts = relevant.map(({ value }) => verdictOf(value, issuer, { zones, host }));
    if (verdicts.includes('allows')) return 'allows';
    return verdicts.includes('unclear') ? 'unclear' : 'forbids';
  }
  return 'allows';
};

/** The service has one account at each authority, and it is that authority's first one. */
export const accountAt = (issuer: string): string => `https://acme.${issuer}/acme/acct/1`;

const verdictOf = (
  text: string,
  issuer: string,
  { zones, host }: { readonly zones: DnsZones; readonly host: string },
): CaaVerdict => {
  const [its, parameter = ''] = text.split(';').map((part) => part.trim());
  if (its !== issuer) return 'forbids';
  const [name, value] = parameter.split('=');
  if (name === 'accounturi') return value === accountAt(issuer) ? 'allows' : 'forbids';
  if (name !== 'validationmethods') return 'allows';
  if (isWildcard(host)) return value === 'dns-01' ? 'allows' : 'forbids';
  // With a delegation, the service may choose either method.
  if (aliasOf(zones, `_acme-challenge.${host}`) !== undefined) return 'unclear';
  return value === 'http-01' ? 'allows' : 'forbids';
};

export const leadsHere = (zones: DnsZones, address: string, host: string): boolean => {
  const name = isWildcard(host) ? `some.${baseOf(host)}` : host;
  const addresses = published(zones, name, 'A');
  return addresses.length > 0 && addresses.every((one) => one === address);
};
