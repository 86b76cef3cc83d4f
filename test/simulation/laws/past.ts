import type { ProcessName } from '../fleet.ts';
import { conditions, objectsOf, type Part } from '../weather.ts';
import type { DnsZones } from '../world/dns-zones.ts';
import { authorityNames, service, type AuthorityName } from '../world/world.ts';
import { caaSays, leadsHere } from './published.ts';

/** Since when something has been so; undefined: it is not. */
type Since = number | undefined;

/** What the DNS says of a host, and since when. */
interface Published {
  readonly forbiddenSince: Record<AuthorityName, Since>;
  readonly allowedSince: Record<AuthorityName, Since>;
  leadsHereSince: Since;
}

interface Weather {
  readonly condition: string;
  readonly since: number;
}

const long = -Infinity;

/** What the weather, the DNS and the fleet were like, as far as laws need it. */
export class Past {
  readonly #now: () => number;
  readonly #zones: DnsZones;
  readonly #weather = new Map<string, Weather>();
  readonly #hosts = new Map<string, Published>();
  readonly #upSince = new Map<ProcessName, number>();
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

  /** Everything is well from now on. */
  clear(): void {
    for (const [part, objects] of Object.entries(objectsOf)) {
      for (const object of objects) this.turn([part, object, 'well']);
    }
  }

  /** Since when it has been well. */
  wellSince(part: Part, object: string): Since {
    const weather = this.#weather.get(`${part} ${object}`);
    if (!weather) return long;
    return weather.condition === 'well' ? weather.since : undefined;
  }

  /** Since when all of a part have been well. */
  allWellSince(part: Part): Since {
    return together(...objectsOf[part].map((object) => this.wellSince(part, object)));
  }

  /** Whether something of a part was in bad weather after that. */
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

  /** Since its last start. */
  upSince(process: ProcessName): Since {
    return this.#upSince.get(process);
  }

  /** Reads the zones again, where somebody has edited them or a host is new. */
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

  #read(host: string): void {
    const now = this.#now();
    const known = this.#hosts.get(host) ?? {
      forbiddenSince: { one: undefined, two: undefined },
      allowedSince: { one: undefined, two: undefined },
      leadsHereSince: undefined,
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
    this.#hosts.set(host, known);
  }
}

/** Since when all of it has been so. */
export const together = (...all: readonly Since[]): Since =>
  all.reduce<Since>(
    (latest, one) =>
      latest === undefined || one === undefined ? undefined : Math.max(latest, one),
    long,
  );
