/** What visitors hold now, per network and in total. */
export interface Held {
  answers: number;
  bytes: number;
}

/** Counts what each network holds. A network without connections is forgotten. */
export class HeldByNetwork {
  readonly #networks = new Map<string, { readonly held: Held; connections: number }>();
  /** Of all networks. */
  readonly all: Held = { answers: 0, bytes: 0 };

  /** For a new connection; `left` takes it back. */
  joined(network: string): Held {
    const known = this.#networks.get(network) ?? { held: { answers: 0, bytes: 0 }, connections: 0 };
    known.connections += 1;
    this.#networks.set(network, known);
    return known.held;
  }

  left(network: string): void {
    const known = this.#networks.get(network);
    if (!known) return;
    known.connections -= 1;
    if (known.connections === 0) this.#networks.delete(network);
  }

  connectionsOf(network: string): number {
    return this.#networks.get(network)?.connections ?? 0;
  }
}
