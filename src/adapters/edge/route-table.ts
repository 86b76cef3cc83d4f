import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CoalescedRuns } from '../../kernel/signals.ts';
import { hostOf } from '../../domains/domain/certificates/renewal.ts';
import { isWildcard, namesFor, wildcardOver } from '../../domains/domain/names/hostname.ts';
import type { Route } from '../../domains/domain/redirects/redirects.ts';
import { isAbsolute } from '../../domains/domain/redirects/settings.ts';
import { pairOf } from '../../domains/domain/own/own-name.ts';
import type { EdgeRecords, LoadedCertificate } from '../../domains/ports.ts';

/** Changes by other processes must arrive within a second, which includes the time to read them. */
const usualPollMs = 500;
/** Removal marks are swept after a day, so an edge that was cut off for longer must reload everything. */
const longestSilenceMs = 60 * 60_000;

export interface PlatformFiles {
  readonly certificate: LoadedCertificate | undefined;
  onChange(listener: () => void): void;
}

export interface PlatformCertificate extends LoadedCertificate {
  readonly source: 'files' | 'delegation';
}

type RouteChange = 'removed' | 'moved' | 'certificate';

export class RouteTable {
  readonly #records: EdgeRecords;
  readonly #platformHost: string;
  readonly #log: Logger;
  readonly #pollMs: number;
  readonly #changes = new EventEmitter<Record<RouteChange, [host: string]>>();
  #routes = new Map<string, Route>();
  #certificates = new Map<string, LoadedCertificate>();
  #revision = 0n;
  #heardAt = -Infinity;
  readonly #looks = new CoalescedRuns(() => this.#takeIn());
  readonly #stopping = new AbortController();
  readonly #platformFiles: PlatformFiles | undefined;

  constructor(
    records: EdgeRecords,
    platform: { readonly host: string; readonly files?: PlatformFiles | undefined },
    log: Logger,
    pollMs = usualPollMs,
  ) {
    this.#pollMs = pollMs;
    this.#records = records;
    this.#platformHost = platform.host;
    this.#platformFiles = platform.files;
    this.#log = log;
    platform.files?.onChange(() => {
      this.#changes.emit('certificate', pairOf(platform.host).host);
    });
  }

  get size(): number {
    return this.#routes.size;
  }

  find(host: string): Route | undefined {
    return routeIn(this.#routes, host);
  }

  /** Finds the name that serves a host: the host, or a wildcard that covers it. */
  nameFor(host: string): string | undefined {
    // A visitor's literal `*` matches nothing.
    return isWildcard(host) ? undefined : namesFor(host).find((name) => this.#routes.has(name));
  }

  /** A project's host uses the platform's certificate, or its own if the platform's is missing or has expired. */
  certificate(name: string): LoadedCertificate | undefined {
    const route = this.#routes.get(name);
    if (!route) return undefined;
    const own = this.#certificates.get(name);
    const platform = isProjectHost(route) ? this.#platform() : undefined;
    return platform && (platform.notAfter.getTime() > Date.now() || !own) ? platform : own;
  }

  get platformCertificate(): PlatformCertificate | undefined {
    const platform = this.#platform();
    const isOfFiles = this.#platformFiles?.certificate !== undefined;
    return platform && { ...platform, source: isOfFiles ? 'files' : 'delegation' };
  }

  #platform(): LoadedCertificate | undefined {
    const stored = () => this.#certificates.get(pairOf(this.#platformHost).host);
    return this.#platformFiles?.certificate ?? stored();
  }

  /** A `removed` event for a wildcard concerns all its hosts. It also fires for a host that gets its own route. */
  on(change: RouteChange, listener: (host: string) => void): void {
    this.#changes.on(change, listener);
  }

  /** Loads everything, then follows changes until `stop`. @throws Unavailable if the first load fails */
  async start(): Promise<void> {
    await this.refresh();
    void this.#follow();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Loads changes. A call during a load starts another one afterwards. @throws Unavailable */
  refresh(): Promise<void> {
    return this.#looks.run();
  }

  async #follow(): Promise<void> {
    let isAway = false;
    const { signal } = this.#stopping;
    for (;;) {
      await delay(this.#pollMs, undefined, { ref: false, signal }).catch(() => undefined);
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
    const now = performance.now();
    if (now - this.#heardAt > longestSilenceMs) await this.#startOver();
    else await this.#catchUp();
    this.#heardAt = now;
  }

  async #startOver(): Promise<void> {
    const { revision, routes, certificates } = await this.#records.changesSince(0n);
    const before = this.#routes;
    const known = this.#certificates;
    this.#routes = new Map(routes.map((route) => [this.#hostOf(route.name), this.#led(route)]));
    this.#certificates = new Map(certificates.map((one) => [one.host, one]));
    this.#revision = revision;
    for (const [host, { projectId }] of before) {
      if (this.#routes.get(host)?.projectId !== projectId) this.#changes.emit('removed', host);
    }
    for (const host of known.keys()) this.#changes.emit('certificate', host);
    const added = [...this.#routes].filter(([host]) => !before.has(host));
    for (const [host, route] of added) this.#tellMoved(host, routeIn(before, host), route);
  }

  async #catchUp(): Promise<void> {
    const changes = await this.#records.changesSince(this.#revision);
    // The database was restored from a backup, so everything is loaded again.
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

  #take(route: Route): void {
    const host = this.#hostOf(route.name);
    const before = this.find(host);
    this.#routes.set(host, this.#led(route));
    this.#tellMoved(host, before, route);
  }

  /** Reports a host that leaves another project's wildcard as removed, because its certificate changes. */
  #tellMoved(host: string, before: Route | undefined, { name, projectId }: Route): void {
    if (!before || before.projectId === projectId) return;
    this.#changes.emit(before.name === name ? 'moved' : 'removed', host);
  }

  #led(route: Route): Route {
    if (route.kind === 'site' || isAbsolute(route.to)) return route;
    return { ...route, to: this.#hostOf(route.to) };
  }

  #hostOf(name: string): string {
    return hostOf(name, this.#platformHost);
  }
}

const isProjectHost = ({ name }: Route): boolean => !name.includes('.');

const routeIn = (routes: ReadonlyMap<string, Route>, host: string): Route | undefined => {
  const exact = routes.get(host);
  if (exact) return exact;
  const wildcard = wildcardOver(host);
  return wildcard === undefined ? undefined : routes.get(wildcard);
};
