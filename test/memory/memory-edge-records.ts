import type { Certificate } from '../../src/domains/domain/certificates/certificate.ts';
import type { Route } from '../../src/domains/domain/redirects/routes.ts';
import {
  EdgeRecords,
  type EdgeChanges,
  type LoadedCertificate,
} from '../../src/domains/edge-ports.ts';

/** What is served under a name, or since when it no longer is. */
interface Entry<Thing> {
  readonly revision: bigint;
  readonly thing: Thing | undefined;
  readonly removedAt: Date | undefined;
}

export class MemoryEdgeRecords extends EdgeRecords {
  readonly #routes = new Map<string, Entry<Route>>();
  readonly #certificates = new Map<string, Entry<Certificate>>();
  #revision = 0n;

  override changesSince(revision: bigint): Promise<EdgeChanges> {
    const since = revision > this.#revision ? 0n : revision;
    const routes = changes(this.#routes, since);
    const certificates = changes(this.#certificates, since);
    return Promise.resolve({
      revision: this.#revision,
      routes: routes.set,
      removedRoutes: routes.removed,
      certificates: certificates.set.map(loaded),
      removedCertificates: certificates.removed,
    });
  }

  override names(): Promise<readonly string[]> {
    return Promise.resolve(changes(this.#routes, 0n).set.map(({ name }) => name));
  }

  sweepRoutes(before: Date): Promise<number> {
    return Promise.resolve(forget(this.#routes, before));
  }

  sweepCertificates(before: Date): Promise<number> {
    return Promise.resolve(forget(this.#certificates, before));
  }

  // For the other adapters of this folder, in the same turn as their state is kept.

  setRoute(route: Route): void {
    this.#set(this.#routes, route.name, route);
  }

  /** Removing something that does not exist is no error. */
  removeRoute(name: string, removedAt: Date): void {
    this.#remove(this.#routes, name, removedAt);
  }

  setCertificate(certificate: Certificate): void {
    this.#set(this.#certificates, certificate.host, certificate);
  }

  /** Removing something that does not exist is no error. */
  removeCertificate(host: string, removedAt: Date): void {
    this.#remove(this.#certificates, host, removedAt);
  }

  get certificates(): readonly Certificate[] {
    return changes(this.#certificates, 0n).set;
  }

  #set<Thing>(entries: Map<string, Entry<Thing>>, name: string, thing: Thing): void {
    this.#revision += 1n;
    const kept = structuredClone(thing);
    entries.set(name, { revision: this.#revision, thing: kept, removedAt: undefined });
  }

  #remove<Thing>(entries: Map<string, Entry<Thing>>, name: string, removedAt: Date): void {
    this.#revision += 1n;
    if (!entries.get(name)?.thing) return;
    const since = new Date(removedAt);
    entries.set(name, { revision: this.#revision, thing: undefined, removedAt: since });
  }
}

const changes = <Thing>(entries: ReadonlyMap<string, Entry<Thing>>, since: bigint) => {
  const changed = [...entries].filter(([, { revision }]) => revision > since);
  return {
    set: structuredClone(changed.flatMap(([, { thing }]) => thing ?? [])),
    removed: since === 0n ? [] : changed.flatMap(([name, { thing }]) => (thing ? [] : name)),
  };
};

const forget = (entries: Map<string, Entry<unknown>>, before: Date): number => {
  const old = [...entries].filter(([, { removedAt }]) => removedAt && removedAt < before);
  for (const [name] of old) entries.delete(name);
  return old.length;
};

const loaded = ({ privateKey, ...certificate }: Certificate): LoadedCertificate => ({
  ...certificate,
  privateKey: () => privateKey,
});
