import type { Server, Socket } from 'node:net';
import { addressBucket } from './client-address.ts';

/** Open connections to the port of the API and the dashboard. */
export const connectionLimits = {
  all: 4000,
  /** Per IPv4 address or IPv6 /64 network. Only without a proxy: behind one, all visitors share its address. */
  ofNetwork: 1500,
} as const;

/**
 * Closes connections beyond the limits, so that no client can use up the process's file descriptors.
 * @param ofNetwork undefined behind a proxy
 */
export const limitConnections = (
  server: Server,
  { all, ofNetwork }: { readonly all: number; readonly ofNetwork: number | undefined },
): void => {
  server.maxConnections = all;
  if (ofNetwork === undefined) return;
  const open = new Map<string, number>();
  // Registered first, so that other listeners never see closed connections.
  server.prependListener('connection', (socket: Socket) => {
    const network = addressBucket(socket.remoteAddress ?? '');
    const before = open.get(network) ?? 0;
    if (before >= ofNetwork) {
      socket.destroy();
      return;
    }
    open.set(network, before + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  });
};
