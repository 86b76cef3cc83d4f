import type { Given } from './settings.ts';

export type Listening = { readonly roles: readonly string[] } & Pick<
  Given,
  | ('host' | 'port' | 'operationsHost' | 'operationsPort')
  | ('edgeHost' | 'edgeHttpPort' | 'edgeHttpsPort')
  | ('dnsHost' | 'dnsPort')
>;

export interface Listener {
  readonly setting: 'PORT' | 'OPERATIONS_PORT' | 'EDGE_HTTP_PORT' | 'EDGE_HTTPS_PORT' | 'DNS_PORT';
  readonly host: string;
  /** 0 stands for any free port. */
  readonly port: number;
}

export const listenersOf = (config: Listening): readonly Listener[] => {
  const { host, port, operationsHost, operationsPort, edgeHost, roles } = config;
  const edge: readonly Listener[] = [
    { setting: 'EDGE_HTTP_PORT', host: edgeHost, port: config.edgeHttpPort },
    { setting: 'EDGE_HTTPS_PORT', host: edgeHost, port: config.edgeHttpsPort },
  ];
  const dns = { setting: 'DNS_PORT', host: config.dnsHost, port: config.dnsPort } as const;
  const operations = { setting: 'OPERATIONS_PORT', host: operationsHost } as const;
  return [
    { setting: 'PORT', host, port },
    ...(operationsPort === undefined ? [] : [{ ...operations, port: operationsPort }]),
    ...(roles.includes('edge') ? edge : []),
    ...(roles.includes('dns') ? [dns] : []),
  ];
};

/** One fault for each pair of settings that name the same port. */
export const portClashes = (config: Listening): readonly string[] =>
  listenersOf(config).flatMap((one, at, all) =>
    all
      .slice(at + 1)
      .filter(({ host, port }) => port !== 0 && port === one.port && overlap(host, one.host))
      .map(
        ({ setting, port }) =>
          `${one.setting}, ${setting}: must be different ports; both are ${String(port)}`,
      ),
  );

/** A wildcard address covers every other one; `::` covers IPv4 too. */
const overlap = (one: string, other: string): boolean =>
  one === other || covers(one, other) || covers(other, one);

const covers = (everywhere: string, host: string): boolean =>
  everywhere === '::' || (everywhere === '0.0.0.0' && !host.includes(':'));

/** As it stands in an address. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);
