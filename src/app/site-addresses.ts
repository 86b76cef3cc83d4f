import { hostOf } from '../domains/domain/certificates/renewal.ts';
import { previewName } from '../domains/domain/redirects/redirects.ts';
import type { Domains } from '../domains/domains.ts';
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
  readonly #domains: Pick<Domains, 'hasPlatformCertificate'>;
  #port: number;
  #httpPort: number;

  constructor(
    edgePort: EdgePort,
    config: Config,
    domains: Pick<Domains, 'hasPlatformCertificate'>,
  ) {
    this.#edgePort = edgePort;
    this.#config = config;
    this.#domains = domains;
    this.#httpPort = config.edgeHttpPort;
    this.#port = this.#publicPort(config.edgeHttpsPort);
  }

  /** Learns the port of the edges. @throws Unavailable */
  async recall(): Promise<this> {
    this.#port = (await this.#edgePort.find()) ?? this.#port;
    return this;
  }

  /** Stores for all processes that an edge listens at the port of HTTPS. @throws Unavailable */
  async publish({ http, https }: { readonly http: number; readonly https: number }): Promise<void> {
    this.#httpPort = http;
    this.#port = this.#publicPort(https);
    await this.#edgePort.remember(this.#port);
  }

  /** In production visitors use the port of HTTPS, which a load balancer or the system leads to the edge. */
  #publicPort(edgePort: number): number {
    return this.#config.production ? 443 : edgePort;
  }

  /**
   * The address of one deploy: over HTTPS where one certificate is for all names of the platform; otherwise over HTTP in
   * development, and nowhere in production.
   * @throws Unavailable
   */
  async previewOf(slug: string, number: number): Promise<string | undefined> {
    const name = previewName(slug, number);
    if (await this.#domains.hasPlatformCertificate()) return this.urlOf(name);
    if (this.#config.production) return undefined;
    const host = hostOf(name, this.#config.platformHost);
    return new URL(`http://${host}:${String(this.#httpPort)}/`).href;
  }

  urlOf(slug: string): string {
    return siteUrl(slug, this.#config.platformHost, this.#port);
  }
}
