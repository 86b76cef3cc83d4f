import type { Connection, OpenConnections } from './open-connections.ts';

/** One client may not hold all connections. Behind one address there can be many people. */
const mostPerAddress = 1000;

/** Keeps count of open connections by the address that they come from. */
export class ConnectionLimit {
  readonly #open: OpenConnections;
  readonly #most: number;

  constructor(open: OpenConnections, most = mostPerAddress) {
    this.#open = open;
    this.#most = most;
  }

  /** Ends the connection when its address has too many already. */
  admit(socket: Connection & { readonly remoteAddress?: string | undefined }): void {
    const address = socket.remoteAddress ?? '';
    if (this.#open.countOf(address) < this.#most) this.#open.add(address, socket);
    else socket.destroy();
  }
}
