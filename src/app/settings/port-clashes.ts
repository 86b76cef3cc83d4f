interface Listening {
  readonly roles: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly operationsHost: string;
  readonly operationsPort: number | undefined;
  readonly edgeHost: string;
  readonly edgeHttpPort: number;
  readonly edgeHttpsPort: number;
}

/** One fault for each pair of settings that name the same port. */
export const portClashes = (config: Listening): readonly string[] => {
  const { edgeHost } = config;
  const places = [
    { setting: 'PORT', host: config.host, port: config.port },
    ...(config.operationsPort === undefined
      ? []
      : [
          {
            setting: 'OPERATIONS_PORT',
            host: config.operationsHost,
            port: config.operationsPort,
          },
        ]),
    // A process without the role does not listen there, whatever is set.
    ...(config.roles.includes('edge')
      ? [
          { setting: 'EDGE_HTTP_PORT', host: edgeHost, port: config.edgeHttpPort },
          { setting: 'EDGE_HTTPS_PORT', host: edgeHost, port: config.edgeHttpsPort },
        ]
      : []),
  ];
  return places.flatMap((one, at) =>
    places
      .slice(at + 1)
      .filter(({ host, port }) => port !== 0 && port === one.port && overlap(host, one.host))
      .map(
        ({ setting, port }) =>
          `${one.setting}, ${setting}: must be different ports; both are ${String(port)}`,
      ),
  );
};

/** A wildcard address covers every other one; `::` covers IPv4 too. */
const overlap = (one: string, other: string): boolean =>
  one === other || covers(one, other) || covers(other, one);

const covers = (everywhere: string, host: string): boolean =>
  everywhere === '::' || (everywhere === '0.0.0.0' && !host.includes(':'));
