import type { Server, Socket } from 'node:net';
import { addressBucket } from './client-address.ts';

/** Open connections to the port of the API and the dashboard. */
export const connectionLimits = {
  all: 4000,
  /**
   * Of one IPv4 address, or the /64 network of an IPv6 address, where visitors come without a proxy: behind one, all of
   * them come from its address.
   */
  ofNetwork: 1500,
} as const;

/**
 * Cuts connections beyond the limits, so that nobody can use up the descriptors of the process.
 * @param ofNetwork undefined behind a proxy
 */
export const limitConnections = (
  server: Server,
  { all, ofNetwork }: { readonly all: number; readonly ofNetwork: number | undefined },
): void => {
  server.maxConnections = all;
  if (ofNetwork === undefined) return;
  const open = new Map<string, number>();
  // Before others who listen: what is cut is no connection to them.
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
