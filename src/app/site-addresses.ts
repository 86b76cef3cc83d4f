import type { EdgePort } from '../adapters/kysely/sites/project-routes.ts';
import { siteUrl } from './settings/addresses.ts';
import type { Config } from './settings/settings.ts';

/**
 * Public addresses of projects. The port is the one that the edges stored in the database, because this process may be
 * no edge or have other settings; until an edge has started, the configured one.
 */
export class SiteAddresses {
  readonly #edgePort: EdgePort;
  readonly #config: Config;
  #port: number;

  constructor(edgePort: EdgePort, config: Config) {
    this.#edgePort = edgePort;
    this.#config = config;
    this.#port = this.#publicPort(config.edgeHttpsPort);
  }

  /** Learns the port of the edges. @throws Unavailable */
  async recall(): Promise<this> {
    this.#port = (await this.#edgePort.find()) ?? this.#port;
    return this;
  }

  /** Stores for all processes that an edge listens at `port`. @throws Unavailable */
  async publish(port: number): Promise<void> {
    this.#port = this.#publicPort(port);
    await this.#edgePort.remember(this.#port);
  }

  /** In production visitors use the port of HTTPS, which a load balancer or the system leads to the edge. */
  #publicPort(edgePort: number): number {
    return this.#config.production ? 443 : edgePort;
  }

  urlOf(slug: string): string {
    return siteUrl(slug, this.#config.platformHost, this.#port);
  }
}
