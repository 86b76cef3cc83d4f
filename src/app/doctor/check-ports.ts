import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import { connect } from 'node:tls';
import { decode, encode } from 'dns-packet';
import { type ServerAddress, exchange } from '../../adapters/dns/wire-questions.ts';
import { nameServerOf } from '../../adapters/nameserver/zone.ts';
import { type Listener, listenersOf, urlHost } from '../settings/addresses.ts';
import type { Config } from '../settings/settings.ts';
import { failed, type Finding, type Look, ok } from './finding.ts';

type IsOurs = (listener: Listener, signal: AbortSignal) => Promise<boolean>;

export const checkPorts =
  (config: Config): Look =>
  (signal) => {
    const listeners = listenersOf(config).filter(({ port }) => port !== 0);
    return Promise.all(
      listeners.map((listener) =>
        checkListener(listener, isOurs(config)[listener.setting], signal),
      ),
    );
  };

const checkListener = async (
  listener: Listener,
  isServedByUs: IsOurs,
  signal: AbortSignal,
): Promise<Finding> => {
  const { setting, host, port } = listener;
  const where = `${setting}: ${urlHost(host)}:${String(port)}`;
  const code = await listenOnce(listener);
  if (code === undefined) return ok(`${where} is free.`);
  // The service may have the permission to listen below 1024 when this command has not.
  if (['EADDRINUSE', 'EACCES'].includes(code)) {
    const isServed = await isServedByUs(listener, signal).catch(() => false);
    if (isServed) return ok(`${where} is served by Animal Store.`);
  }
  return code === 'EADDRINUSE'
    ? failed(`${where} is in use by another program.`, `End it, or set ${setting} to a free port.`)
    : failed(`${where} cannot be listened on (${code}).`, advice(code));
};

const advice = (code: string): string =>
  code === 'EACCES'
    ? 'Give the service the permission to listen below 1024: docs/edge.md, "Ports 80 and 443".'
    : 'Set the host to an address of this machine.';

const reachable = (host: string): string => {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : urlHost(host);
};

const isHealthy: IsOurs = async ({ host, port }, signal) => {
  const answer = await fetch(`http://${reachable(host)}:${String(port)}/healthz`, { signal });
  return (await answer.text()) === '{"status":"ok"}';
};

const isEdge: IsOurs = async ({ host, port }, signal) => {
  const answer = await fetch(`http://${reachable(host)}:${String(port)}/`, { signal });
  return answer.status === 404 && (await answer.text()) === '404 Not Found\n';
};

/** Recognises an edge by its TLS alert (RFC 6066, section 3). */
const isSecureEdge: IsOurs = ({ host, port }, signal) =>
  new Promise((resolve) => {
    const address = reachable(host).replace(/^\[|\]$/g, '');
    const socket = connect({ host: address, port, servername: 'doctor.invalid' });
    const end = (isOurs: boolean) => {
      socket.destroy();
      resolve(isOurs);
    };
    signal.addEventListener('abort', () => {
      end(false);
    });
    socket.on('secureConnect', () => {
      end(false);
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      end(code?.includes('UNRECOGNIZED_NAME') ?? false);
    });
  });

const isOurZone = async (
  server: ServerAddress,
  zone: string,
  signal: AbortSignal,
): Promise<boolean> => {
  const question = encode({ type: 'query', id: 1, questions: [{ type: 'NS', name: zone }] });
  const { answers = [], flag_aa: isAuthority } = decode(await exchange(server, question, signal));
  const names = answers.map((answer) => (answer.type === 'NS' ? answer.data : ''));
  return isAuthority && names.join() === nameServerOf(zone);
};

const isOurs = ({
  acmeDnsZone: zone = '',
}: Config): Readonly<Record<Listener['setting'], IsOurs>> => ({
  PORT: isHealthy,
  OPERATIONS_PORT: isHealthy,
  EDGE_HTTP_PORT: isEdge,
  EDGE_HTTPS_PORT: isSecureEdge,
  DNS_PORT: ({ host, port }, signal) => {
    const ip = reachable(host).replace(/^\[|\]$/g, '');
    return isOurZone({ ip, port }, zone, signal);
  },
});

/** @returns the error code if listening fails; a name server also listens on UDP */
const listenOnce = async ({ setting, host, port }: Listener): Promise<string | undefined> => {
  const code = await overTcp(host, port);
  return code === undefined && setting === 'DNS_PORT' ? overUdp(host, port) : code;
};

const overTcp = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code ?? 'unknown');
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });

const overUdp = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      socket.close();
      resolve(code ?? 'unknown');
    });
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.close(() => {
        resolve(undefined);
      });
    });
  });
