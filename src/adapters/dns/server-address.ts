import { isIP, isIPv6 } from 'node:net';

export interface ServerAddress {
  readonly ip: string;
  readonly port: number;
}

const written = /^(?:\[(?<v6>[^\]]+)\]|(?<v4>[^:[\]]+))(?::(?<port>\d{1,5}))?$/;

/**
 * Reads `ip`, `ip:port`, `[v6]` or `[v6]:port`; without a port it is 53.
 * @throws Error for host names and for ports outside 1..65535, which node:dns would accept and never reach
 */
export const parseServer = (text: string): ServerAddress => {
  const groups = written.exec(text)?.groups;
  const ip = isIPv6(text) ? text : (groups?.['v6'] ?? groups?.['v4'] ?? '');
  const port = Number(groups?.['port'] ?? 53);
  const isRight = groups?.['v6'] === undefined ? isIP(ip) !== 0 : isIPv6(ip);
  if (!isRight || port < 1 || port > 65_535) {
    throw new Error(`${text} is not the address of a DNS server: ip, ip:port or [ipv6]:port`);
  }
  return { ip, port };
};

export const showServer = ({ ip, port }: ServerAddress): string =>
  `${isIPv6(ip) ? `[${ip}]` : ip}:${port}`;

/** As people read it: the port only where it is not 53. */
export const nameServer = (server: ServerAddress): string =>
  server.port === 53 ? server.ip : showServer(server);
