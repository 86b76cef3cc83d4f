import { join } from 'node:path';
import type { S3Place } from '../../adapters/storage/s3/s3-calls.ts';
import { hostOf } from '../../domains/domain/certificates/renewal.ts';
import { previewName } from '../../domains/domain/redirects/redirects.ts';
import type { Domains } from '../../domains/domains.ts';
import type { DestinationRules } from '../../notifications/domain/destination.ts';
import type { Config } from './settings.ts';

export const dashboardOrigin = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  new URL(publicUrl).origin;

export const signInUrl = (secret: string, config: Pick<Config, 'publicUrl'>): string =>
  `${dashboardOrigin(config)}/dashboard/sign-in/${secret}`;

export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

export interface Listener {
  readonly setting: 'PORT' | 'OPERATIONS_PORT' | 'EDGE_HTTP_PORT' | 'EDGE_HTTPS_PORT' | 'DNS_PORT';
  readonly host: string;
  readonly port: number;
}

export type Listening = Pick<
  Config,
  | ('host' | 'port' | 'operationsPort' | 'roles')
  | ('edgeHost' | 'edgeHttpPort' | 'edgeHttpsPort')
  | ('dnsHost' | 'dnsPort')
>;

export const listenersOf = (config: Listening): readonly Listener[] => {
  const { host, port, operationsPort, edgeHost, roles } = config;
  const edge: readonly Listener[] = [
    { setting: 'EDGE_HTTP_PORT', host: edgeHost, port: config.edgeHttpPort },
    { setting: 'EDGE_HTTPS_PORT', host: edgeHost, port: config.edgeHttpsPort },
  ];
  const dns = { setting: 'DNS_PORT', host: config.dnsHost, port: config.dnsPort } as const;
  return [
    { setting: 'PORT', host, port },
    ...(operationsPort ? [{ setting: 'OPERATIONS_PORT', ...operationsPort } as const] : []),
    ...(roles.includes('edge') ? edge : []),
    ...(roles.includes('dns') ? [dns] : []),
  ];
};

export const objectStoreIn = (
  config: Pick<Config, 'deploysUrl' | 's3Endpoint'>,
): S3Place | undefined => {
  const { deploysUrl, s3Endpoint: endpoint } = config;
  if (deploysUrl === undefined) return undefined;
  const { hostname: bucket, pathname } = new URL(deploysUrl);
  const path = pathname.split('/').filter((part) => part !== '');
  return { bucket, prefix: path.map((part) => `${part}/`).join(''), endpoint };
};

/** With an object store, this folder is only for staging. */
export const deploysFolder = ({
  dataDir,
  deploysUrl,
}: Pick<Config, 'dataDir' | 'deploysUrl'>): string =>
  join(dataDir, deploysUrl === undefined ? 'deploys' : 'deploys-staging');

/** Forbids webhooks to this machine in production. */
export const destinationRules = ({
  production,
  allowTestDomains,
}: Pick<Config, 'production' | 'allowTestDomains'>): DestinationRules => ({
  allowsThisMachine: allowTestDomains && !production,
});

interface StoredPort {
  readonly find: () => Promise<number | undefined>;
  readonly remember: (port: number) => Promise<void>;
}

export class SiteAddresses {
  readonly #edgePort: StoredPort;
  readonly #config: Config;
  readonly #domains: Pick<Domains, 'hasPlatformCertificate'>;
  #port: number;
  #httpPort: number;

  constructor(
    edgePort: StoredPort,
    config: Config,
    domains: Pick<Domains, 'hasPlatformCertificate'>,
  ) {
    this.#edgePort = edgePort;
    this.#config = config;
    this.#domains = domains;
    this.#httpPort = config.edgeHttpPort;
    this.#port = this.#publicPort(config.edgeHttpsPort);
  }

  async recall(): Promise<this> {
    this.#port = (await this.#edgePort.find()) ?? this.#port;
    return this;
  }

  async publish({ http, https }: { readonly http: number; readonly https: number }): Promise<void> {
    this.#httpPort = http;
    this.#port = this.#publicPort(https);
    await this.#edgePort.remember(this.#port);
  }

  #publicPort(edgePort: number): number {
    return this.#config.production ? 443 : edgePort;
  }

  /**
   * Returns the deploy's address: HTTPS with a certificate for all platform names, otherwise HTTP in development and
   * undefined in production.
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
    const host = hostOf(slug, this.#config.platformHost);
    return new URL(`https://${host}:${String(this.#port)}/`).href;
  }
}
