/** The used part of a socket. */
export interface Connection {
  readonly bytesRead: number;
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Open connections by what they belong to: the host that they were made for, or the address that they come from. */
export class OpenConnections<Open extends Connection = Connection> {
  readonly #byOwner = new Map<string, Set<Open>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  of(owner: string): readonly Open[] {
    return [...(this.#byOwner.get(owner) ?? [])];
  }

  add(owner: string, socket: Open): void {
    const sockets = this.#byOwner.get(owner) ?? new Set<Open>();
    this.#byOwner.set(owner, sockets.add(socket));
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
      sockets.delete(socket);
      if (sockets.size === 0 && this.#byOwner.get(owner) === sockets) this.#byOwner.delete(owner);
    });
  }

  /** Ends them at once, including requests under way. */
  destroy(owner: string): void {
    for (const socket of this.#byOwner.get(owner) ?? []) socket.destroy();
  }

  /** Ends those over which nothing came yet. */
  destroyUnused(): void {
    for (const socket of this.#all()) if (socket.bytesRead === 0) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#all()) socket.destroy();
  }

  *#all() {
    for (const sockets of this.#byOwner.values()) yield* sockets;
  }
}
