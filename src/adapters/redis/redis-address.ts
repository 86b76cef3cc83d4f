export interface Sentinels {
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** As in `sentinel monitor NAME …`. */
  readonly name: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly usesTls: boolean;
}

export interface RedisAddress {
  /** With sentinels, the host is ignored. */
  readonly url: string;
  readonly sentinels: Sentinels | undefined;
  readonly database: string;
  readonly timeoutMs: number | undefined;
}

const usualSentinelPort = 26379;
const withSentinels =
  /^(?<scheme>rediss?)\+sentinel:\/\/(?<user>[^/?#]*@)?(?<hosts>[^/?#@]+)\/(?<name>[\w.-]+)(?<rest>(?:\/\d+)?(?:\?[^#]*)?)$/;

/** Reads `redis://host:6379/2` or `redis+sentinel://a:26379,b:26379/name/2`; `rediss` for TLS. */
export const readRedisAddress = (text: string): RedisAddress | undefined => {
  const { scheme, user = '', hosts = '', name = '', rest } = withSentinels.exec(text)?.groups ?? {};
  if (scheme === undefined) return readServer(text)?.address;
  const places = hosts.split(',').flatMap((host) => readSentinel(host) ?? []);
  const server = readServer(`${scheme}://${user}primary${rest ?? ''}`);
  if (!server || server.hasOthers || places.length < hosts.split(',').length) return undefined;
  const { username, password } = server;
  const sentinels = { hosts: places, name, username, password, usesTls: scheme === 'rediss' };
  return { ...server.address, sentinels };
};

const readServer = (text: string) => {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (!['redis:', 'rediss:'].includes(url.protocol)) return undefined;
  if (url.hostname === '' || url.hostname.includes(',')) return undefined;
  const taken = (name: string): string | undefined => {
    const value = url.searchParams.get(name) ?? undefined;
    url.searchParams.delete(name);
    return value;
  };
  // ioredis would read the number as text and wait forever.
  const timeout = Number(taken('commandTimeout'));
  const [username, password] = [taken('sentinelUsername'), taken('sentinelPassword')];
  const address: RedisAddress = {
    url: url.href,
    sentinels: undefined,
    database: url.pathname.slice(1) || '0',
    timeoutMs: Number.isInteger(timeout) && timeout > 0 ? timeout : undefined,
  };
  return { address, username, password, hasOthers: url.searchParams.size > 0 };
};

const readSentinel = (text: string) => {
  if (!URL.canParse(`redis://${text}`)) return undefined;
  const { hostname, port } = new URL(`redis://${text}`);
  if (hostname === '') return undefined;
  // Node's sockets need IPv6 addresses without brackets.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? usualSentinelPort : Number(port) };
};
