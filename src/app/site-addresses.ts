import type { EdgePort } from '../adapters/kysely/edge-port.ts';
import { siteUrl } from './addresses.ts';
import type { Config } from './config.ts';

/**
 * Where projects are served. The port is the one that the edges have told the database, since this process may be none
 * or have other settings; before any has started, the one in our settings.
 */
export class SiteAddresses {
  readonly #edgePort: EdgePort;
  readonly #config: Config;
  #port: number;

  constructor(edgePort: EdgePort, config: Config) {
    this.#edgePort = edgePort;
    this.#config = config;
    this.#port = config.edgePublicPort ?? config.edgeHttpsPort;
  }

  /** Learns the port of the edges. @throws Unavailable */
  async recall(): Promise<this> {
    this.#port = (await this.#edgePort.find()) ?? this.#port;
    return this;
  }

  /** Tells all processes: an edge listens at `port` here. @throws Unavailable */
  async publish(port: number): Promise<void> {
    this.#port = this.#config.edgePublicPort ?? port;
    await this.#edgePort.remember(this.#port);
  }

  urlOf(slug: string): string {
    return siteUrl(slug, this.#config.platformHost, this.#port);
  }
}
