import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Turns } from '../../kernel/turns.ts';
import { hostOf } from '../../domains/domain/certificates/certificate.ts';
import type { Route } from '../../domains/domain/redirects/routes.ts';
import type { EdgeRecords, LoadedCertificate } from '../../domains/edge-ports.ts';

/** Other processes' changes are seen within a second, with time to read them. */
const pollMs = 500;
/** Removals are swept after a day, so an edge that was cut off for longer than this starts over. */
const longestSilenceMs = 60 * 60_000;

/** Everything that this process serves, in memory, so that it keeps serving during a database outage. */
export class RouteTable {
  readonly #records: EdgeRecords;
  readonly #platformHost: string;
  readonly #log: Logger;
  /** Each host that is no longer served, or has a new certificate. */
  readonly #changes = new EventEmitter<{ removed: [host: string]; certificate: [host: string] }>();
  #routes = new Map<string, Route>();
  #certificates = new Map<string, LoadedCertificate>();
  #revision = 0n;
  #heardAt = -Infinity;
  readonly #looks = new Turns(() => this.#takeIn());
  readonly #stopping = new AbortController();

  constructor(records: EdgeRecords, platformHost: string, log: Logger) {
    this.#records = records;
    this.#platformHost = platformHost;
    this.#log = log;
  }

  get size(): number {
    return this.#routes.size;
  }

  find(host: string): Route | undefined {
    return this.#routes.get(host);
  }

  certificate(host: string): LoadedCertificate | undefined {
    return this.#routes.has(host) ? this.#certificates.get(host) : undefined;
  }

  on(change: 'removed' | 'certificate', listener: (host: string) => void): void {
    this.#changes.on(change, listener);
  }

  /** Loads everything, then follows the changes until `stop`. @throws Unavailable when the first load fails */
  async start(): Promise<void> {
    await this.refresh();
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Loads the changes. A call during a load causes another load. @throws Unavailable */
  refresh(): Promise<void> {
    return this.#looks.run();
  }

  async #follow(): Promise<void> {
    let isAway = false;
    const { signal } = this.#stopping;
    for (;;) {
      await delay(pollMs, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return;
      const problem = await this.refresh().then(
        () => undefined,
        (error: unknown) => ({ err: error }),
      );
      if (problem && !isAway)
        this.#log.warn(problem, 'routes not refreshed, serving the known ones');
      if (!problem && isAway) this.#log.info('routes are refreshed again');
      isAway = problem !== undefined;
    }
  }

  async #takeIn(): Promise<void> {
    // A clock that cannot be set.
    const now = performance.now();
    if (now - this.#heardAt > longestSilenceMs) await this.#startOver();
    else await this.#catchUp();
    this.#heardAt = now;
  }

  async #startOver(): Promise<void> {
    const { revision, routes, certificates } = await this.#records.changesSince(0n);
    const before = this.#routes;
    this.#routes = new Map(routes.map((route) => [this.#hostOf(route.name), route]));
    this.#certificates = new Map(certificates.map((one) => [one.host, one]));
    this.#revision = revision;
    for (const [host, { projectId }] of before) {
      if (this.#routes.get(host)?.projectId !== projectId) this.#changes.emit('removed', host);
      this.#changes.emit('certificate', host);
    }
  }

  async #catchUp(): Promise<void> {
    const changes = await this.#records.changesSince(this.#revision);
    // The database was restored from a backup: its state replaces everything.
    if (changes.revision < this.#revision) return this.#startOver();
    for (const name of changes.removedRoutes) {
      const host = this.#hostOf(name);
      if (this.#routes.delete(host)) this.#changes.emit('removed', host);
    }
    for (const route of changes.routes) this.#take(route);
    for (const host of changes.removedCertificates) this.#certificates.delete(host);
    for (const one of changes.certificates) this.#certificates.set(one.host, one);
    const renewed = changes.certificates.map((one) => one.host);
    for (const host of [...changes.removedCertificates, ...renewed]) {
      this.#changes.emit('certificate', host);
    }
    this.#revision = changes.revision;
  }

  /** A host that moved to another project between two looks still counts as removed. */
  #take(route: Route): void {
    const host = this.#hostOf(route.name);
    const before = this.#routes.get(host);
    this.#routes.set(host, route);
    if (before && before.projectId !== route.projectId) this.#changes.emit('removed', host);
  }

  #hostOf(name: string): string {
    return hostOf(name, this.#platformHost);
  }
}
