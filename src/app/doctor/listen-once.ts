import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import type { Listener } from '../settings/addresses.ts';

/** @returns the error code if listening fails; a name server also listens for datagrams */
export const listenOnce = async ({
  setting,
  host,
  port,
}: Listener): Promise<string | undefined> => {
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
